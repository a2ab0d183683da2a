// How many items each stage of a 1F1B pipeline should have in flight: its depth
// (docs/planner.md#the-cost-model).
#pragma once

#include <span>
#include <vector>

#include "cost/traits.h"

namespace pipedream::cost {

inline constexpr int kMostInFlight = 1 << 20;  // per replica; no useful plan has more

// Returns the depth of each stage, the first stage first: the most items that one replica has in
// flight. With r_i replicas on stage i of S,
//   d_S = 1, d_i = ceil(r_{i+1}·d_{i+1} / r_i) + slack.
// Slack 1 is the least that keeps all stages busy if transfers take no time. Slack 2, which gives
// 2(S−i)+1 on a pipeline without replicas, also hides transfers that take as long as a stage's
// compute. No depth exceeds kMostInFlight.
[[nodiscard]] std::vector<int> pipeline_depths(std::span<const int> replicas, int slack);

// Returns pipeline_depths() with the largest slack for which no replica of the first stage has more
// than `most` items in flight. If slack 1 already exceeds `most`, every stage is cut down to
// `most`.
[[nodiscard]] std::vector<int> depths_up_to(std::span<const int> replicas, int most);

// Returns the PipeDream paper's NOAM for a stage with `replicas` replicas and `downstream` workers
// in later stages: the workers from this stage to the end divided by the replicas, rounded up.
[[nodiscard]] constexpr int noam(int downstream, int replicas) {
  return (downstream + replicas - 1) / replicas + 1;
}

// Returns the PipeDream paper's NOAM for each stage of a pipeline, the first stage first.
[[nodiscard]] std::vector<int> noam_depths(std::span<const int> replicas);

// Which rule gives the depths:
//   kBest  pipeline_depths(); the prediction takes slack 1 or 2, whichever is faster
//   kNoam  noam_depths(), the paper's formula
//   kUpTo  depths_up_to() a limit on the first stage's depth, which the user gives
enum class Depth { kBest, kNoam, kUpTo };

struct DepthChoice {
  Depth depth = Depth::kBest;
  int most = 0;   // only for Depth::kUpTo: the limit on the first stage's depth
  int slack = 1;  // only for Depth::kBest: the slack of pipeline_depths()
};

// Returns the depth of each stage by the rule that `choice` names, the first stage first.
// `replicas` has the number of replicas of each stage. If replicas share items, a stage counts as
// one replica.
[[nodiscard]] std::vector<int> chosen_depths(const Traits& traits, std::vector<int> replicas,
                                             const DepthChoice& choice);

}  // namespace pipedream::cost
