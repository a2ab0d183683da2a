#include "schedule/one_f_one_b.h"

#include <algorithm>
#include <set>

#include "core/check.h"
#include "schedule/depths.h"
#include "schedule/rounds.h"

namespace pipedream::schedule {
namespace {

// Returns the version of a stage's weights after the first `rounds` rounds, if an update has
// `accumulate` of them.
WeightVersion after(std::int64_t rounds, std::int64_t accumulate) {
  return {std::max<std::int64_t>(0, rounds) / accumulate};
}

Generator alone(const plan::Stage& stage, StageId id, int depth, const Extent& extent,
                WeightVersions versions, int first_depth, int accumulate) {
  const bool recompute = stage.recompute;
  const int behind = versions == WeightVersions::kVerticalSync ? first_depth : depth;
  const Rounds rounds{1, extent.minibatches, accumulate};
  const auto append = [=](std::int64_t step, std::vector<Op>& ops) {
    const std::int64_t back = step - depth + 1;
    if (step < extent.minibatches)
      ops.push_back(Forward{id, {step, 0}, after(step - behind + 1, accumulate)});
    if (back < 0) return;
    const bool newest = versions == WeightVersions::kUnstashed;
    append_backward(recompute, id, {back, 0}, after(newest ? back : back - behind + 1, accumulate),
                    ops);
    if (rounds.ends_update(back)) ops.push_back(rounds.update(id, rounds.update_of(back)));
  };
  return {stage.workers.front(), extent.minibatches + depth - 1, append};
}

// The program of one of several replicas. Step k awaits the averaging that began after round
// k − d − 1 and applies it, runs the forward of round k and the backward of round k − d + 1, and
// begins an averaging if the latter round ends an update.
Generator replica_of(const plan::Stage& stage, StageId id, std::size_t index, std::int64_t depth,
                     const Extent& extent, WeightVersions versions, int accumulate) {
  const bool recompute = stage.recompute;
  const auto replica = static_cast<std::int64_t>(index);
  const Rounds rounds{static_cast<std::int64_t>(stage.workers.size()), extent.minibatches,
                      accumulate};
  const auto append = [=](std::int64_t k, std::vector<Op>& ops) {
    const std::int64_t averaged = k - depth - 1;
    if (averaged >= 0 && rounds.ends_update(averaged)) {
      const std::int64_t u = rounds.update_of(averaged);
      ops.push_back(Await{id, {u + 1}});
      ops.push_back(rounds.update(id, u));
    }
    if (rounds.has(k, replica))
      ops.push_back(Forward{id, {rounds.minibatch(k, replica), 0}, after(k - depth, accumulate)});
    const std::int64_t back = k - depth + 1;
    if (back < 0 || back >= rounds.count()) return;
    const bool newest = versions == WeightVersions::kUnstashed;
    if (rounds.has(back, replica))
      append_backward(recompute, id, {rounds.minibatch(back, replica), 0},
                      after(newest ? back - 1 : back - depth, accumulate), ops);
    if (rounds.ends_update(back)) ops.push_back(Reduce{id, {rounds.update_of(back) + 1}});
  };
  return {stage.workers[index], rounds.count() + depth + 1, append};
}

}  // namespace

Schedule one_f_one_b(const plan::Plan& plan, const Extent& extent, const cost::Traits& traits) {
  Schedule schedule{{},
                    {.traits = traits,
                     .in_flight = runnable_depths(plan, traits.replicas),
                     .accumulate = plan.accumulate}};
  const WeightVersions versions = traits.versions;
  std::set<WorkerId> taken;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const plan::Stage& stage = plan.stages[s];
    const auto id = id_at<StageId>(s);
    for (const WorkerId worker : stage.workers) PD_CHECK(taken.insert(worker).second);
    const int depth = schedule.rules.in_flight[s];
    if (stage.workers.size() == 1) {
      schedule.generators.push_back(alone(stage, id, depth, extent, versions,
                                          schedule.rules.in_flight.front(), plan.accumulate));
      continue;
    }
    PD_CHECK(versions != WeightVersions::kVerticalSync);
    for (std::size_t i = 0; i < stage.workers.size(); ++i)
      schedule.generators.push_back(
          replica_of(stage, id, i, depth, extent, versions, plan.accumulate));
  }
  return schedule;
}

}  // namespace pipedream::schedule
