#include "schedule/evaluation.h"

#include <algorithm>

namespace pipedream::schedule {
namespace {

struct OwnStage {
  StageId stage;
  std::int64_t replica;
  std::int64_t replicas;
};

std::vector<OwnStage> parts_of(const plan::Plan& plan, WorkerId worker) {
  std::vector<OwnStage> parts;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto& workers = plan.stages[s].workers;
    const auto found = std::find(workers.begin(), workers.end(), worker);
    if (found != workers.end())
      parts.push_back(
          {id_at<StageId>(s), found - workers.begin(), static_cast<std::int64_t>(workers.size())});
  }
  return parts;
}

}  // namespace

Schedule evaluation(const plan::Plan& plan, const Extent& extent, Replicas kind) {
  Schedule schedule{{}, {.traits = {.replicas = kind}, .trains = false}};
  const int workers = plan::worker_count(plan);
  for (int w = 0; w < workers; ++w) {
    const std::vector<OwnStage> parts = parts_of(plan, {w});
    if (parts.empty()) continue;
    const std::int64_t group = parts.size() > 1 ? workers : 1;
    const auto append = [=](std::int64_t piece, std::vector<Op>& ops) {
      const std::int64_t end = std::min(extent.minibatches, (piece + 1) * group);
      for (const OwnStage& part : parts)
        for (std::int64_t t = piece * group; t < end; ++t) {
          if (kind != Replicas::kShareItems && t % part.replicas != part.replica) continue;
          for (int m = 0; m < extent.microbatches_of(t); ++m)
            ops.push_back(Forward{part.stage, {t, m}, {0}});
        }
    };
    schedule.generators.push_back({{w}, (extent.minibatches + group - 1) / group, append});
  }
  return schedule;
}

}  // namespace pipedream::schedule
