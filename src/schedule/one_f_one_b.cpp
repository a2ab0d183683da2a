#include "schedule/one_f_one_b.h"

#include <algorithm>
#include <set>

#include "core/check.h"
#include "schedule/depths.h"
#include "schedule/rounds.h"

namespace pipedream::schedule {
namespace {

WeightVersion at_least_zero(std::int64_t version) { return {std::max<std::int64_t>(0, version)}; }

Generator alone(const plan::Stage& stage, StageId id, int depth, const Extent& extent,
                WeightVersions versions, int first_depth) {
  const bool recompute = stage.recompute;
  const int behind = versions == WeightVersions::kVerticalSync ? first_depth : depth;
  const auto append = [=](std::int64_t step, std::vector<Op>& ops) {
    const std::int64_t back = step - depth + 1;
    if (step < extent.minibatches)
      ops.push_back(Forward{id, {step, 0}, at_least_zero(step - behind + 1)});
    if (back < 0) return;
    const bool newest = versions == WeightVersions::kUnstashed;
    append_backward(recompute, id, {back, 0},
                    newest ? WeightVersion{back} : at_least_zero(back - behind + 1), ops);
    ops.push_back(Update{id, {back}, {back + 1}, back, back});
  };
  return {stage.workers.front(), extent.minibatches + depth - 1, append};
}

// The program of one of several replicas. Step k awaits the averaging of round k − d − 1 and
// applies it, runs the forward of round k and the backward of round k − d + 1, and begins the
// averaging of the latter.
Generator replica_of(const plan::Stage& stage, StageId id, std::size_t index, std::int64_t depth,
                     const Extent& extent, WeightVersions versions) {
  const bool recompute = stage.recompute;
  const auto replica = static_cast<std::int64_t>(index);
  const Rounds rounds{static_cast<std::int64_t>(stage.workers.size()), extent.minibatches};
  const auto append = [=](std::int64_t k, std::vector<Op>& ops) {
    const std::int64_t averaged = k - depth - 1;
    if (averaged >= 0) {
      ops.push_back(Await{id, {averaged + 1}});
      ops.push_back(rounds.update(id, averaged));
    }
    if (rounds.has(k, replica))
      ops.push_back(Forward{id, {rounds.minibatch(k, replica), 0}, at_least_zero(k - depth)});
    const std::int64_t back = k - depth + 1;
    if (back < 0 || back >= rounds.count()) return;
    const bool newest = versions == WeightVersions::kUnstashed;
    if (rounds.has(back, replica))
      append_backward(recompute, id, {rounds.minibatch(back, replica), 0},
                      at_least_zero(newest ? back - 1 : back - depth), ops);
    ops.push_back(Reduce{id, {back + 1}});
  };
  return {stage.workers[index], rounds.count() + depth + 1, append};
}

}  // namespace

Schedule one_f_one_b(const plan::Plan& plan, const Extent& extent, const cost::Traits& traits) {
  Schedule schedule{{}, {.traits = traits, .in_flight = runnable_depths(plan, traits.replicas)}};
  const WeightVersions versions = traits.versions;
  std::set<WorkerId> taken;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const plan::Stage& stage = plan.stages[s];
    const auto id = id_at<StageId>(s);
    for (const WorkerId worker : stage.workers) PD_CHECK(taken.insert(worker).second);
    const int depth = schedule.rules.in_flight[s];
    if (stage.workers.size() == 1) {
      schedule.generators.push_back(
          alone(stage, id, depth, extent, versions, schedule.rules.in_flight.front()));
      continue;
    }
    PD_CHECK(versions != WeightVersions::kVerticalSync);
    for (std::size_t i = 0; i < stage.workers.size(); ++i)
      schedule.generators.push_back(replica_of(stage, id, i, depth, extent, versions));
  }
  return schedule;
}

}  // namespace pipedream::schedule
