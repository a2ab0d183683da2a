// Model parallelism: balanced stages, one minibatch at a time, no pipelining.
#include "schedule/model_parallel.h"

#include "cost/gpipe_time.h"
#include "systems/blocks.h"
#include "systems/list.h"

namespace pipedream::systems {
namespace {

// Uses all workers, so that the largest models fit. With one minibatch at a time, the number of
// stages only changes the time of transfers.
plan::Candidates plan_model_parallel(const plan::Predictor& predictor, const Wishes& wishes) {
  const int workers = predictor.links().workers();
  return plan_blocks(predictor, wishes, {.fewest = workers, .most = workers});
}

}  // namespace

System model_parallel() {
  return {.name = "mp",
          .about = "balanced stages on all workers, one minibatch at a time",
          .traits = {.flushes = true},
          .options = {Option::kStages, Option::kBalance, Option::kSplit, Option::kAccumulate},
          .preference = 4,
          .plan = plan_model_parallel,
          .time = cost::gpipe_time,
          .schedule = schedule::model_parallel};
}

}  // namespace pipedream::systems
