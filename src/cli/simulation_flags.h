// The flags about a run: of `simulate` and `compare`, and those about weights of `schedule` too.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cluster/cluster.h"
#include "systems/simulation.h"

namespace pipedream::cli {

// Which weights a run uses (pipedream).
struct WeightFlags {
  bool vertical_sync = false;
  bool no_stash = false;
};

inline constexpr std::int64_t kMostSimulated = 1'000'000'000;  // minibatches

struct SimulationFlags : WeightFlags {
  std::int64_t minibatches = 0;
  std::vector<std::string> stragglers;  // "3:0.5"
  bool no_loading = false;
  double jitter = 0;  // percent
  std::uint64_t seed = 0;
};

// --no-loading, --straggler, --jitter.
void add_condition_flags(CLI::App& command, const std::shared_ptr<SimulationFlags>& flags);
// These, --minibatches and --seed.
void add_simulation_flags(CLI::App& command, const std::shared_ptr<SimulationFlags>& flags);
// --vertical-sync, --no-stash.
void add_weight_flags(CLI::App& command, const std::shared_ptr<WeightFlags>& flags);

void take_over(const WeightFlags& flags, systems::ScheduleOptions& options);

// What a simulation has in common with the planning before it: how replicas average, and what the
// optimiser keeps.
void take_over(const systems::Wishes& planning, systems::SimulationWishes& simulation);

// A line for each straggler that plans do not use, which names those plans.
[[nodiscard]] std::vector<std::string> unused_stragglers(
    const SimulationFlags& flags, const systems::SimulationWishes& wishes,
    const std::vector<const plan::Plan*>& plans);

// Throws BadUsage for a straggler that the cluster does not have.
[[nodiscard]] systems::SimulationWishes simulation_wishes(const SimulationFlags& flags,
                                                          const cluster::Cluster& cluster);

}  // namespace pipedream::cli
