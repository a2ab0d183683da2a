// What a user may ask of a planner, and which of these options a system knows. An option has one
// name for all users; the command line spells it as a flag (`no_recompute`: --no-recompute), the
// C++ library as a field.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost/cost_model.h"
#include "plan/balance.h"

namespace pipedream::systems {

// The options of Wishes and ScheduleOptions that mean something to some systems only.
enum class Option {
  kStraight,
  kHierarchical,
  kNoRecompute,
  kSplit,
  kStages,
  kMicrobatches,
  kDepth,
  kAccumulate,
  kBalance,
  kExchange,
  kCostModel,
  kVerticalSync,
  kNoStash,
};

// Returns the name of the option, such as "no_recompute".
[[nodiscard]] std::string name_of(Option option);
// Returns the name in backquotes, as messages have it: "`no_recompute`" (pipedream/errors.h).
[[nodiscard]] std::string quoted(Option option);

// How much `auto` values speed. A system with stale weights computes gradients with weights that
// are older than those they are applied to, which may slow down or spoil learning.
enum class Prefer {
  kExact,     // never a system with stale weights
  kBalanced,  // a system with stale weights only if it is kWorthStaleness times as fast
  kSpeed,     // the fastest
};
inline constexpr double kWorthStaleness = 1.25;
[[nodiscard]] const std::vector<std::string>& prefer_names();  // in the order of the enumerators

// What the user asks of a planner, besides the model and the cluster.
struct Wishes {
  Prefer prefer = Prefer::kBalanced;  // only for `auto`
  cost::CostModel cost_model = cost::CostModel::kDefault;
  // The most memory that a worker may use. A worker whose device has less may use that. nullopt:
  // the device's memory is the only limit.
  std::optional<Bytes> memory;
  int optimiser_copies = 1;  // optimiser state per weight: 0 plain SGD, 1 momentum, 2 Adam
  std::optional<cost::Exchange> exchange;  // how replicas average gradients; nullopt: a ring
  bool straight = false;                   // no replicas
  bool hierarchical = false;               // PipeDream's own planner instead of ours
  bool recompute = true;                   // stages may recompute, if the system can
  std::vector<int> split;                  // the number of layers before each cut
  std::optional<int> stages;               // number of stages; nullopt: the planner chooses
  std::optional<int> microbatches;         // per minibatch; nullopt: the planner chooses
  // Rounds of minibatches whose gradients make one update (plan::Plan::accumulate).
  int accumulate = 1;
  cost::Depth depth = cost::Depth::kBest;
  int most_depth = 0;  // only for Depth::kUpTo: limit on the first stage's depth
  plan::Balance balance = plan::Balance::kTime;
};

// Returns the options that `wishes` sets.
[[nodiscard]] std::vector<Option> given_options(const Wishes& wishes);
// Resets `option` to its default. Requires an option of Wishes.
void take_back(Option option, Wishes& wishes);

}  // namespace pipedream::systems
