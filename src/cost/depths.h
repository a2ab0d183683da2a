// How many items each stage of a 1F1B pipeline should have in flight (docs/planner.md).
#pragma once

#include <span>
#include <vector>

#include "cost/traits.h"

namespace pipedream::cost {

inline constexpr int kMostInFlight = 1 << 20;  // per replica; no useful plan has more

// Items in flight per replica of each stage, the first stage first:
//   d_S = 1, d_i = ceil(r_{i+1}·d_{i+1} / r_i) + slack.
// Slack 1 is the least that keeps all stages busy when transfers take no time. With slack 2
// (2(n−i)+1 on a straight pipeline) transfers as long as a stage's compute are hidden too.
[[nodiscard]] std::vector<int> pipeline_depths(std::span<const int> replicas, int slack);

// The deepest pipeline of this form in which no replica of the first stage has more than `most`
// items in flight. If slack 1 already exceeds `most`, every stage is cut down to `most`.
[[nodiscard]] std::vector<int> depths_up_to(std::span<const int> replicas, int most);

// The paper's NOAM for one stage: the items per replica that keep `downstream` workers behind a
// stage of `replicas` busy.
[[nodiscard]] constexpr int noam(int downstream, int replicas) {
  return (downstream + replicas - 1) / replicas + 1;
}

// The paper's NOAM for each stage of a pipeline, the first stage first.
[[nodiscard]] std::vector<int> noam_depths(std::span<const int> replicas);

// Who chooses the depths: the planner (pipeline_depths with the better of slack 1 and 2), the
// paper's formula (noam_depths), or the user, who limits the first stage's (depths_up_to).
enum class Depth { kBest, kNoam, kUpTo };

struct DepthChoice {
  Depth depth = Depth::kBest;
  int most = 0;   // for Depth::kUpTo
  int slack = 1;  // for Depth::kBest
};

// The depth of each stage with these replicas. Replicas that share items count as one.
[[nodiscard]] std::vector<int> chosen_depths(const Traits& traits, std::vector<int> replicas,
                                             const DepthChoice& choice);

}  // namespace pipedream::cost
