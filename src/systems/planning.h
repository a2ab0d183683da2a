// Plans for one system under the user's wishes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "plan/plan_file.h"
#include "systems/system.h"

namespace pipedream::systems {

// The time per minibatch of a plan.
struct Times {
  Seconds predicted{0};              // by the formula of the planner's cost model
  std::optional<Seconds> simulated;  // nullopt if the plan is too large to simulate (ranking.h)
                                     // or the cost model is not the default one
  friend bool operator==(const Times&, const Times&) = default;
};

// Returns the simulated time if there is one, otherwise the predicted one.
[[nodiscard]] inline Seconds best_estimate(const Times& times) {
  return times.simulated.value_or(times.predicted);
}

// Returns how many times as fast `times` is as `over`. Compares the simulated times if both have
// one, otherwise the predicted ones.
[[nodiscard]] double speedup(const Times& times, const Times& over);

// A plan with the planner's answer.
struct Planned {
  std::string system;
  plan::Plan plan;
  plan::Answer answer;
  Times times;
  cost::CostModel cost_model = cost::CostModel::kDefault;
  // False if the planner considers all cuts, but the network has too many and was cut along one
  // order of its layers (Cuts::complete).
  bool every_cut = true;
  // The times of data parallelism; nullopt if it does not fit the memory.
  std::optional<Times> data_parallel;
};

using Result = std::variant<Planned, plan::Refusal>;

// A profile with its cuts. Keeps a reference to the profile.
struct Model {
  explicit Model(const profile::Profile& of)
      : profile(of), cuts(of), in_order(plan::Cuts::in_declared_order(of)) {}
  const profile::Profile& profile;
  plan::Cuts cuts;
  plan::Cuts in_order;  // Cuts::in_declared_order, for systems without `looks_at_all_cuts`
};

// Plans for one system. Throws BadUsage for a wish that means nothing to the system, and BadValue
// for a split that is not valid (plan::plan_split).
[[nodiscard]] Result plan_for(const System& system, const Model& model,
                              const cluster::Cluster& cluster, const Wishes& wishes);
// Does the same as plan_for(), but does not set Planned::data_parallel.
[[nodiscard]] Result plan_alone(const System& system, const Model& model,
                                const cluster::Cluster& cluster, const Wishes& wishes);

// Returns `wishes` without the options that the system does not know.
[[nodiscard]] Wishes only_known(const System& system, Wishes wishes);

// Returns the times of data parallelism; nullopt if it does not fit the memory.
[[nodiscard]] std::optional<Times> data_parallel_times(const Model& model,
                                                       const cluster::Cluster& cluster,
                                                       const Wishes& wishes);

// Returns the plan file of a plan for a cluster of `workers` workers. `took` is the time that
// planning took.
[[nodiscard]] plan::PlanFile plan_file_of(const Planned& planned, const profile::Profile& profile,
                                          int workers, Seconds took);

// Reads the file of a plan for the network of `graph`. Throws what plan::read_plan() throws, and
// BadFile for a system that does not exist.
[[nodiscard]] plan::PlanFile read_known_plan(const std::filesystem::path& path,
                                             const graph::Graph& graph);

// Reads a plan file as read_known_plan() does. Throws CannotMeet if the plan needs more than
// `workers` workers; the message ends with `found`, which says how many workers there are.
[[nodiscard]] plan::PlanFile read_plan_for(const std::filesystem::path& path,
                                           const graph::Graph& graph, int workers,
                                           const std::string& found);

// Returns "sgd", "momentum", "adam", "adamw".
[[nodiscard]] const std::vector<std::string>& optimiser_names();
// Returns the index of `optimiser` in optimiser_names(). Throws BadUsage, with the nearest name, if
// there is no such optimiser.
[[nodiscard]] std::size_t optimiser_place(std::string_view optimiser);
// Returns Wishes::optimiser_copies for `optimiser`. Throws what optimiser_place() throws.
[[nodiscard]] int optimiser_copies(std::string_view optimiser);

}  // namespace pipedream::systems
