// When `train` writes checkpoints, and what they cost in time and space, from its flags.
#pragma once

#include <cstdint>
#include <string>

#include "cli/train_flags.h"
#include "plan/plan_file.h"
#include "train/course.h"

namespace pipedream::cli {

// Throws BadUsage for flags about checkpoints that make no sense together.
void check_checkpoint_flags(const TrainFlags& flags);

// Whether the training writes any checkpoint.
[[nodiscard]] bool wants_checkpoints(const TrainFlags& flags);

// When checkpoints are written. A time becomes a number of minibatches of `batch` samples, by the
// predicted speed, so that a repeated run has its checkpoints at the same steps. Throws CannotMeet
// if the plan has no prediction for that.
[[nodiscard]] train::CheckpointTimes checkpoint_times(const TrainFlags& flags,
                                                      const plan::Predicted& predicted,
                                                      std::int64_t batch);

// Returns a warning if draining the pipeline for a checkpoint every `times.every` minibatches will
// cost much of the time; else empty.
[[nodiscard]] std::string drain_warning(const train::CheckpointTimes& times,
                                        const plan::Predicted& predicted);

// Returns the largest number of checkpoints that the run folder holds at one time, for a training
// of `minibatches` minibatches in `epochs` epochs. It holds the newest --keep, the best one, and
// the one that is being written.
[[nodiscard]] std::int64_t most_checkpoints(const TrainFlags& flags, std::int64_t minibatches,
                                            std::int64_t epochs);

}  // namespace pipedream::cli
