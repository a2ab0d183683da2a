// The flags that describe a run: those of `simulate` and `compare`, and the flags about weight
// versions, which `schedule` has too.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cluster/cluster.h"
#include "systems/simulation.h"

namespace pipedream::cli {

// Which weight versions a run of the system pipedream uses.
struct WeightFlags {
  bool vertical_sync = false;
  bool no_stash = false;
};

inline constexpr std::int64_t kMostSimulated = 1'000'000'000;  // limit of --minibatches

struct SimulationFlags : WeightFlags {
  std::int64_t minibatches = 0;
  std::vector<std::string> stragglers;  // WORKER:SPEED, such as "3:0.5"
  bool no_loading = false;
  double jitter = 0;  // percent
  std::uint64_t seed = 0;
};

// Adds --no-loading, --straggler and --jitter.
void add_condition_flags(CLI::App& command, const std::shared_ptr<SimulationFlags>& flags);
// Adds the flags of add_condition_flags(), --minibatches and --seed.
void add_simulation_flags(CLI::App& command, const std::shared_ptr<SimulationFlags>& flags);
// Adds --vertical-sync and --no-stash.
void add_weight_flags(CLI::App& command, const std::shared_ptr<WeightFlags>& flags);

// What the values of --straggler say. Throws BadUsage for one that cannot be read, that is given
// twice, or that is none of `workers` workers.
[[nodiscard]] std::vector<Straggler> stragglers_of(const std::vector<std::string>& texts,
                                                   int workers);

void take_over(const WeightFlags& flags, systems::ScheduleOptions& options);

// Copies the settings that planning and simulation have in common: how replicas average gradients,
// and how much optimiser state there is.
void take_over(const systems::Wishes& planning, systems::SimulationWishes& simulation);

// Returns a line for each straggler of `flags` that some of `plans` do not use. The line names
// these plans.
[[nodiscard]] std::vector<std::string> unused_stragglers(
    const SimulationFlags& flags, const systems::SimulationWishes& wishes,
    const std::vector<const plan::Plan*>& plans);

// The settings of the simulation that `flags` describes. Throws what stragglers_of() throws.
[[nodiscard]] systems::SimulationWishes simulation_wishes(const SimulationFlags& flags,
                                                          const cluster::Cluster& cluster);

}  // namespace pipedream::cli
