// DAPPLE: 1F1B inside each minibatch, a flush at its end, replicas share every microbatch.
#include "plan/dapple.h"

#include "cost/dapple_time.h"
#include "schedule/dapple.h"
#include "systems/depth_rules.h"
#include "systems/list.h"

namespace pipedream::systems {
namespace {

plan::Candidates plan_dapple(const plan::Predictor& predictor, const Wishes& wishes) {
  return plan_for_depths(predictor, [&](const plan::Predictor& with) {
    return plan::plan_dapple(with, {.straight = wishes.straight});
  });
}

}  // namespace

System dapple() {
  return {.name = "dapple",
          .about = "1F1B inside each minibatch, flush, replicas share microbatches",
          .traits = {.cuts_minibatches = true,
                     .flushes = true,
                     .replicas = cost::Replicas::kShareItems,
                     .recomputes = true,
                     .in_flight = cost::InFlight::kDepth},
          .recompute = plan::Recompute::kWhereNeeded,
          .options = {Option::kMicrobatches, Option::kNoRecompute, Option::kDepth,
                      Option::kStraight, Option::kExchange, Option::kAccumulate},
          .preference = 1,
          .looks_at_all_cuts = true,
          .plan = plan_dapple,
          .time = cost::dapple_time,
          .schedule = schedule::dapple};
}

}  // namespace pipedream::systems
