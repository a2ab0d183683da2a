#include "cli/train_checkpoints.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "report/table.h"
#include "systems/simulation.h"
#include "train/request.h"

namespace pipedream::cli {
namespace {

std::int64_t minibatches_in(const TrainFlags& flags, Nanos time, const plan::Predicted& predicted,
                            std::int64_t batch) {
  if (!predicted.samples_per_second)
    throw CannotMeet("--checkpoint-every " + flags.checkpoint_every +
                     ": the plan has no predicted speed to turn this into minibatches; name a "
                     "number of minibatches");
  const double training = to_seconds(time) - predicted.drain_seconds.value_or(0);
  const double minibatches = training * *predicted.samples_per_second / static_cast<double>(batch);
  const double most = static_cast<double>(train::kMostMinibatches);
  return std::llround(std::clamp(minibatches, 1.0, most));
}

}  // namespace

void check_checkpoint_flags(const TrainFlags& flags) {
  const CheckpointInterval interval = checkpoint_interval(flags.checkpoint_every);
  const bool asks = !flags.checkpoint_every.empty() && !interval.is_never();
  if (flags.out.empty() && !flags.dry_run && (asks || flags.checkpoint_at || flags.keep))
    throw BadUsage("checkpoints go into the folder of --out: name it with --out");
  if (!flags.schedule.empty() && (interval.minibatches || interval.time || flags.checkpoint_at))
    throw BadUsage(
        "--schedule: a schedule of your own is not cut, so there is a checkpoint at its end only; "
        "leave --checkpoint-every and --checkpoint-at out");
}

bool wants_checkpoints(const TrainFlags& flags) {
  return !flags.out.empty() &&
         (!checkpoint_interval(flags.checkpoint_every).is_never() || flags.checkpoint_at);
}

train::CheckpointTimes checkpoint_times(const TrainFlags& flags, const plan::Predicted& predicted,
                                        std::int64_t batch) {
  const CheckpointInterval interval = checkpoint_interval(flags.checkpoint_every);
  train::CheckpointTimes times{.every = interval.minibatches,
                               .once = flags.checkpoint_at,
                               .at_epochs = interval.epochs,
                               .at_end = !interval.is_never()};
  if (interval.time) times.every = minibatches_in(flags, *interval.time, predicted, batch);
  return times;
}

std::string drain_warning(const train::CheckpointTimes& times, const plan::Predicted& predicted) {
  constexpr double kMuch = 0.05;
  if (!times.every || !predicted.drain_seconds || predicted.seconds_per_minibatch <= 0) return "";
  const double training = static_cast<double>(*times.every) * predicted.seconds_per_minibatch;
  const double share = systems::drain_share(Seconds(*predicted.drain_seconds), Seconds(training));
  if (share < kMuch) return "";
  return "draining the pipeline for a checkpoint every " +
         counted(*times.every, "minibatch", "minibatches") + " will cost about " +
         report::percent(share) + " of the time: a longer --checkpoint-every costs less";
}

std::int64_t most_checkpoints(const TrainFlags& flags, std::int64_t minibatches,
                              std::int64_t epochs) {
  if (!wants_checkpoints(flags)) return 0;
  const CheckpointInterval interval = checkpoint_interval(flags.checkpoint_every);
  const std::int64_t kept = flags.keep.value_or(train::CheckpointRequest{}.keep) + 2;
  if (interval.time) return kept;
  std::int64_t written = flags.checkpoint_at ? 1 : 0;
  if (interval.minibatches) written += minibatches / *interval.minibatches;
  if (interval.epochs) written += epochs - 1;
  if (!interval.is_never()) ++written;  // at the end
  return std::min(kept, written);
}

}  // namespace pipedream::cli
