// One table of all systems: what a name on the command line stands for, and who plans for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cost/variant.h"
#include "plan/balance.h"
#include "plan/planner.h"

namespace pipedream::systems {

// What the user asks of a planner, besides the model and the cluster.
struct Wishes {
  cost::Variant variant = cost::Variant::kDefault;
  std::optional<Bytes> memory;  // at most; each device's own where that is less
  int optimiser_copies = 1;     // of the weights: 0 plain SGD, 1 momentum, 2 Adam
  cost::Exchange exchange = cost::Exchange::kRing;
  bool straight = false;
  bool hierarchical = false;  // PipeDream's own planner instead of ours
  bool recompute = true;      // where the system knows it
  std::vector<int> split;
  std::optional<int> stages;
  std::optional<int> microbatches;
  plan::Depth depth = plan::Depth::kBest;
  int most_depth = 0;
  plan::Balance balance = plan::Balance::kTime;
};

struct System {
  std::string name;
  std::string about;
  cost::Rule rule;
  int preference;                    // among equals; the lower the better
  bool automatic;                    // whether `auto` may take it
  std::vector<std::string> options;  // flags that mean something to it
};

[[nodiscard]] const std::vector<System>& all_systems();
// Throws BadUsage, with the nearest name, when there is none.
[[nodiscard]] const System& find_system(std::string_view name);

// A plan with all that is said about it.
struct Planned {
  std::string system;
  plan::Plan plan;
  plan::Answer answer;
  cost::Variant variant = cost::Variant::kDefault;
  bool every_cut = true;  // was looked at; false for wide networks, cut along one order
  std::optional<Seconds> data_parallel;  // per minibatch; none where it does not fit the memory

  [[nodiscard]] Seconds time() const { return answer.objective; }
};

using Result = std::variant<Planned, plan::Refusal>;

// A profile with the places where it can be cut. Keeps a reference to the profile.
struct Model {
  explicit Model(const profile::Profile& of)
      : profile(of), cuts(of), in_order(plan::Cuts::in_declared_order(of)) {}
  const profile::Profile& profile;
  plan::Cuts cuts;
  plan::Cuts in_order;  // for the planners that take the layers as they come
};

// Plans for one system. Throws BadUsage for a wish that means nothing to it, BadValue for one that
// cannot be (plan::plan_split).
[[nodiscard]] Result plan_for(const System& system, const Model& model,
                              const cluster::Cluster& cluster, const Wishes& wishes);

// Whether the flag ("--depth") means something to that system.
[[nodiscard]] bool knows(const System& system, const std::string& flag);

// Wishes that `auto` leaves out for that system, as flags: "--microbatches" for pipedream, which
// cuts nothing. One that it meets without knowing it is none of them: no system that does not know
// --no-recompute recomputes.
[[nodiscard]] std::vector<std::string> passed_over(const System& system, const Wishes& wishes);

// `auto`: every system plans, except those that cannot have the form wished for (--straight,
// --stages, --split); other wishes that mean nothing to one are left out for it.
struct Candidate {
  const System* system;
  Result result;
};
// Times the fastest counts as equal: profiles are no more exact than that.
inline constexpr double kAsFast = 1.01;
struct Choice {
  std::vector<Candidate> candidates;  // in the order of all_systems()
  // The fastest that fits; of those that are as fast (kAsFast) the one that changes training least:
  // synchronous before stale weights. None: nothing fits.
  std::optional<std::size_t> best;
};
[[nodiscard]] Choice plan_for_all(const Model& model, const cluster::Cluster& cluster,
                                  const Wishes& wishes);

}  // namespace pipedream::systems
