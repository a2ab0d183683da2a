// How deep a pipeline of 1F1B can really be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

// The plan's depths, less where the stages before do not let as many items through: before its
// first backward a stage of depth d on r replicas needs (d − 1)·r + 1 items, and an earlier one of
// depth e on q replicas passes on only q·e. (Depths that memory cut down may ask for that.)
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
