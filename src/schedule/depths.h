// Limits the depths of a 1F1B pipeline to what its earlier stages can supply.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

// Returns the depth of each stage: the depth in the plan, or less if earlier stages do not let
// enough items through. Before its first backward, a stage of depth d with r replicas needs
// (d − 1)·r + 1 items, but an earlier stage of depth e with q replicas passes on only q·e items.
// Replicas that share items count as one. A plan asks for too much where memory has limited the
// depth of an earlier stage.
[[nodiscard]] inline std::vector<int> runnable_depths(const plan::Plan& plan, Replicas kind) {
  std::vector<int> depths;
  std::int64_t passed = INT64_MAX;
  for (const plan::Stage& stage : plan.stages) {
    const std::int64_t replicas =
        kind == Replicas::kShareItems ? 1 : static_cast<std::int64_t>(stage.workers.size());
    depths.push_back(static_cast<int>(
        std::min<std::int64_t>(std::max(1, stage.depth), (passed - 1) / replicas + 1)));
    passed = std::min(passed, replicas * depths.back());
  }
  return depths;
}

}  // namespace pipedream::schedule
