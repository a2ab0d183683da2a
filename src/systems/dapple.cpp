// DAPPLE: 1F1B inside each minibatch, a flush at its end, replicas share every microbatch.
#include "plan/dapple.h"

#include "cost/dapple_time.h"
#include "schedule/dapple.h"
#include "systems/list.h"
#include "systems/ranking.h"

namespace pipedream::systems {
namespace {

// The latency formula is off by a few percent, more than its best plans differ. So the plan that is
// fastest in simulation is taken. Its prediction is still that of the formula.
plan::Outcome plan_dapple(const plan::Predictor& predictor, const Wishes& wishes) {
  plan::DappleAnswers answers = plan::plan_dapple_few(predictor, {.straight = wishes.straight});
  if (answers.few.empty()) return std::move(answers.best);
  return fastest_simulated(dapple(), predictor, std::move(answers.few));
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
                      Option::kStraight, Option::kExchange},
          .preference = 1,
          .looks_at_all_cuts = true,
          .plan = plan_dapple,
          .time = cost::dapple_time,
          .schedule = schedule::dapple};
}

}  // namespace pipedream::systems
