// From a system and the user's wishes to a plan.
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

// A plan with all that is said about it.
struct Planned {
  std::string system;
  plan::Plan plan;
  plan::Answer answer;
  cost::Variant cost_model = cost::Variant::kDefault;
  // Whether the planner looked at every cut. False for wide networks, which are cut along one
  // order.
  bool every_cut = true;
  // The time that data parallelism takes per minibatch; nothing if it does not fit the memory.
  std::optional<Seconds> data_parallel;

  [[nodiscard]] Seconds time() const { return answer.objective; }
};

using Result = std::variant<Planned, plan::Refusal>;

// A profile with the places where it can be cut. Keeps a reference to the profile.
struct Model {
  explicit Model(const profile::Profile& of)
      : profile(of), cuts(of), in_order(plan::Cuts::in_declared_order(of)) {}
  const profile::Profile& profile;
  plan::Cuts cuts;
  plan::Cuts in_order;  // for planners that take the layers in declared order
};

// Plans for one system. Throws BadUsage for a wish that means nothing to it, BadValue for one that
// cannot be (plan::plan_split).
[[nodiscard]] Result plan_for(const System& system, const Model& model,
                              const cluster::Cluster& cluster, const Wishes& wishes);
// The same without Planned::data_parallel.
[[nodiscard]] Result plan_alone(const System& system, const Model& model,
                                const cluster::Cluster& cluster, const Wishes& wishes);

// `wishes` without the options that the system does not know.
[[nodiscard]] Wishes only_known(const System& system, Wishes wishes);

// The time per minibatch of data parallelism; nothing if it does not fit the memory.
[[nodiscard]] std::optional<Seconds> data_parallel_time(const Model& model,
                                                        const cluster::Cluster& cluster,
                                                        const Wishes& wishes);

// A plan as its file has it, with what was predicted for a cluster of `workers`. Planning took
// `took`.
[[nodiscard]] plan::PlanFile plan_file_of(const Planned& planned, const profile::Profile& profile,
                                          int workers, Seconds took);

// A plan file for a network of that graph. Throws as plan::read_plan does, and BadFile for a system
// that does not exist.
[[nodiscard]] plan::PlanFile read_known_plan(const std::filesystem::path& path,
                                             const graph::Graph& graph);

// The same for a cluster of `workers`. Throws CannotMeet if the plan needs more of them; the
// message ends with `found`, which says what there is.
[[nodiscard]] plan::PlanFile read_plan_for(const std::filesystem::path& path,
                                           const graph::Graph& graph, int workers,
                                           const std::string& found);

// "sgd", "momentum", "adam", "adamw".
[[nodiscard]] const std::vector<std::string>& optimiser_names();
// The index of a name in that list. Throws BadUsage, with the nearest name, when there is none.
[[nodiscard]] std::size_t optimiser_place(std::string_view optimiser);
// Wishes::optimiser_copies for that optimiser. Throws likewise.
[[nodiscard]] int optimiser_copies(std::string_view optimiser);

}  // namespace pipedream::systems
