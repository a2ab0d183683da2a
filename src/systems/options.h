// What a user may ask of a planner, and which of these options a system knows. An option has one
// name for all users; the command line spells it as a flag (`no_recompute`: --no-recompute), the
// C++ library as a field.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost/variant.h"
#include "plan/balance.h"

namespace pipedream::systems {

// The options of Wishes, and of schedules, that mean something to some systems only.
enum class Option {
  kStraight,
  kHierarchical,
  kNoRecompute,
  kSplit,
  kStages,
  kMicrobatches,
  kDepth,
  kBalance,
  kExchange,
  kCostModel,
  kVerticalSync,
  kNoStash,
};

// "no_recompute"
[[nodiscard]] std::string name_of(Option option);
// The same as messages have it: "`no_recompute`" (core/error.h).
[[nodiscard]] std::string quoted(Option option);

// How much `auto` values speed. A system with stale weights computes gradients with weights that
// are older than those they are applied to, which may slow down or spoil learning.
enum class Prefer {
  kExact,     // never a system with stale weights
  kBalanced,  // one with stale weights only if it is kWorthStaleness times as fast as the others
  kSpeed,     // the fastest
};
inline constexpr double kWorthStaleness = 1.25;
[[nodiscard]] const std::vector<std::string>& prefer_names();  // in the order of the enumerators

// What the user asks of a planner, besides the model and the cluster.
struct Wishes {
  Prefer prefer = Prefer::kBalanced;  // for `auto`
  cost::Variant cost_model = cost::Variant::kDefault;
  std::optional<Bytes> memory;  // the most that a worker may use; its device's where that is less
  int optimiser_copies = 1;     // of the weights: 0 plain SGD, 1 momentum, 2 Adam
  std::optional<cost::Exchange> exchange;  // how replicas average; not set: a ring
  bool straight = false;                   // no replicas
  bool hierarchical = false;               // PipeDream's own planner instead of ours
  bool recompute = true;                   // whether a stage may recompute, where the system can
  std::vector<int> split;                  // the number of layers before each cut
  std::optional<int> stages;
  std::optional<int> microbatches;
  cost::Depth depth = cost::Depth::kBest;
  int most_depth = 0;  // for Depth::kUpTo
  plan::Balance balance = plan::Balance::kTime;
};

// The options that `wishes` sets.
[[nodiscard]] std::vector<Option> given_options(const Wishes& wishes);
// `wishes` with that option as if it had not been given.
void take_back(Option option, Wishes& wishes);

}  // namespace pipedream::systems
