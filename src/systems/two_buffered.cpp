// PipeDream-2BW: 1F1B over microbatches without a flush, two weight versions.
#include "plan/two_buffered.h"

#include "cost/two_buffered_time.h"
#include "schedule/two_buffered.h"
#include "systems/depth_rules.h"
#include "systems/list.h"

namespace pipedream::systems {
namespace {

plan::Candidates plan_two_buffered(const plan::Predictor& predictor, const Wishes&) {
  return plan_for_depths(predictor, [](const plan::Predictor& with) {
    return plan::plan_two_buffered(with.cuts(), with.cluster(), with.setting());
  });
}

std::optional<std::string> want_equal_replicas(const plan::Plan& plan) {
  for (const plan::Stage& stage : plan.stages)
    if (stage.workers.size() != plan.stages.front().workers.size())
      return "all stages must have the same number of replicas";
  return std::nullopt;
}

}  // namespace

System two_buffered() {
  return {.name = "2bw",
          .about = "1F1B over microbatches, two weight versions, equal pipelines side by side",
          .traits = {.cuts_minibatches = true,
                     .replicas = cost::Replicas::kTakeTurns,
                     .recomputes = true,
                     .in_flight = cost::InFlight::kDepth,
                     .versions = cost::WeightVersions::kTwo},
          .recompute = plan::Recompute::kWhereNeeded,
          .options = {Option::kMicrobatches, Option::kNoRecompute, Option::kDepth,
                      Option::kExchange, Option::kAccumulate},
          .preference = 5,
          .plan = plan_two_buffered,
          .time = cost::two_buffered_time,
          .schedule = schedule::two_buffered,
          .accepts = want_equal_replicas};
}

}  // namespace pipedream::systems
