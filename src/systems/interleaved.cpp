// Interleaved 1F1B (Narayanan et al., SC 2021): several stages per worker, flush after each
// minibatch.
#include "plan/interleaved.h"

#include "cost/interleaved_time.h"
#include "schedule/interleaved.h"
#include "systems/list.h"

namespace pipedream::systems {
namespace {

plan::Candidates plan_interleaved(const plan::Predictor& predictor, const Wishes& wishes) {
  return plan::plan_interleaved(predictor, wishes.stages);
}

}  // namespace

// `auto` never takes interleaved, because its prediction is an estimate.
System interleaved() {
  return {.name = "interleaved",
          .about = "several stages per worker, 1F1B inside each minibatch, flush",
          .traits = {.cuts_minibatches = true,
                     .flushes = true,
                     .recomputes = true,
                     .several_stages_per_worker = true,
                     .in_flight = cost::InFlight::kDepth},
          .recompute = plan::Recompute::kWhereNeeded,
          .options = {Option::kMicrobatches, Option::kNoRecompute, Option::kStages,
                      Option::kAccumulate},
          .plan = plan_interleaved,
          .time = cost::interleaved_time,
          .schedule = schedule::interleaved};
}

}  // namespace pipedream::systems
