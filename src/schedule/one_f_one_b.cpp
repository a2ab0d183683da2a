#include "schedule/one_f_one_b.h"

#include <algorithm>
#include <set>

#include "core/check.h"

namespace pipedream::schedule {
namespace {

std::vector<Op> program_of(StageId stage, std::int64_t depth, std::int64_t minibatches) {
  const auto version = [&](std::int64_t minibatch) {
    return WeightVersion{std::max<std::int64_t>(0, minibatch - depth + 1)};
  };
  std::vector<Op> ops;
  for (std::int64_t i = 0; i < minibatches + depth - 1; ++i) {
    const std::int64_t back = i - depth + 1;
    if (i < minibatches) ops.push_back(Forward{stage, {i, 0}, version(i)});
    if (back < 0) continue;
    ops.push_back(Backward{stage, {back, 0}, version(back)});
    ops.push_back(Update{stage, {back}, {back + 1}, back, back});
  }
  return ops;
}

}  // namespace

std::vector<Program> one_f_one_b(const plan::Plan& plan, std::int64_t minibatches) {
  const auto stages = static_cast<std::int64_t>(plan.stages.size());
  std::set<WorkerId> taken;
  std::vector<Program> programs;
  for (std::int64_t s = 0; s < stages; ++s) {
    const plan::Stage& stage = plan.stages[static_cast<std::size_t>(s)];
    PD_CHECK(stage.workers.size() == 1);
    PD_CHECK(taken.insert(stage.workers[0]).second);
    programs.push_back({stage.workers[0], program_of(id_at<StageId>(static_cast<std::size_t>(s)),
                                                     stages - s, minibatches)});
  }
  return programs;
}

}  // namespace pipedream::schedule
