// GPipe: all forwards of a minibatch's microbatches, all backwards, flush; and TorchGPipe, which is
// GPipe on the workers of one machine.
#include "schedule/gpipe.h"

#include "cost/gpipe_time.h"
#include "systems/blocks.h"
#include "systems/list.h"

namespace pipedream::systems {
namespace {

plan::Candidates plan_gpipe(const plan::Predictor& predictor, const Wishes& wishes) {
  return plan_blocks(predictor, wishes, {.most = predictor.links().workers()});
}

plan::Candidates plan_torchgpipe(const plan::Predictor& predictor, const Wishes& wishes) {
  const cost::Links& links = predictor.links();
  if (links.levels() < 2) return plan_gpipe(predictor, wishes);
  return plan_blocks(predictor, wishes, {.most = links.inside(1), .of = "of one machine"});
}

constexpr cost::Traits kTraits{.cuts_minibatches = true,
                               .flushes = true,
                               .recomputes = true,
                               .in_flight = cost::InFlight::kMinibatch};

}  // namespace

System gpipe() {
  return {.name = "gpipe",
          .about = "all forwards, all backwards, flush; the user's split or balanced stages",
          .traits = kTraits,
          .recompute = plan::Recompute::kAlways,
          .options = {Option::kMicrobatches, Option::kNoRecompute, Option::kStages,
                      Option::kBalance, Option::kSplit, Option::kAccumulate},
          .preference = 2,
          .plan = plan_gpipe,
          .time = cost::gpipe_time,
          .schedule = schedule::gpipe};
}

System torchgpipe() {
  return {.name = "torchgpipe",
          .about = "GPipe on one machine, balanced stages",
          .traits = kTraits,
          .recompute = plan::Recompute::kAlways,
          .options = {Option::kMicrobatches, Option::kNoRecompute, Option::kStages,
                      Option::kBalance, Option::kAccumulate},
          .preference = 3,
          .plan = plan_torchgpipe,
          .time = cost::gpipe_time,
          .schedule = schedule::gpipe};
}

}  // namespace pipedream::systems
