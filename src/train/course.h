// How a training is cut: the stream of samples into minibatches, epochs and stretches, and each
// minibatch into items. All workers compute the same cuts from the same recipe.
#pragma once

#include <optional>

#include "data/batches.h"
#include "plan/plan.h"
#include "schedule/schedule.h"
#include "systems/schedules.h"

namespace pipedream::train {

// When checkpoints are written. Minibatches are those of Recipe::batch samples, counted from the
// training's beginning. A checkpoint comes at the next whole update of the system after that.
struct CheckpointTimes {
  std::optional<std::int64_t> every;  // minibatches from one checkpoint to the next
  std::optional<std::int64_t> once;   // one more after this many minibatches
  bool at_epochs = false;             // after every epoch
  bool at_end = false;                // when the training ends
};

// When held-out data is evaluated. Minibatches are counted as for checkpoints.
struct EvaluationTimes {
  std::optional<std::int64_t> every;  // minibatches from one evaluation to the next
  bool at_epochs = false;             // after every epoch
  bool at_end = false;                // when the training ends
};

// What was trained before, by the run that a checkpoint was taken from.
struct Beginning {
  data::StreamStart stream;
  std::int64_t samples = 0;    // trained before, over all epochs
  double loss = 0;             // of the last minibatch
  std::int64_t minibatch = 0;  // minibatches of the schedules trained before
};

// How long to train and where to cut.
struct CourseOptions {
  std::int64_t samples = 0;                 // of the data set
  std::int64_t batch = 1;                   // Recipe::batch
  std::int64_t epochs = 1;                  // in all; ignored if `minibatches` is set
  std::optional<std::int64_t> minibatches;  // in all, of `batch` samples
  // The extent of a schedule of the user's own, which is one stretch, whatever epochs its samples
  // belong to. `epochs` and `minibatches` are ignored then, and a checkpoint comes at the end only.
  std::optional<schedule::Extent> extent;
  std::uint64_t seed = 0;
  CheckpointTimes checkpoints;
  EvaluationTimes evaluations;
  Beginning beginning;
};

// Consecutive minibatches of one epoch that are trained with one schedule. The pipeline drains at
// the end of each stretch.
struct Stretch {
  std::int64_t epoch = 0;
  std::int64_t first = 0;  // number of its first minibatch in the stream (Course::batches)
  std::int64_t count = 0;  // minibatches of the schedule
  bool ends_epoch = false;
  bool evaluates = false;  // an evaluation follows
  bool saves = false;      // a checkpoint follows, after the evaluation if there is one
};

// Samples of a whole training, over all epochs. `samples`: of the data set.
[[nodiscard]] std::int64_t samples_in_all(std::int64_t samples, std::int64_t batch,
                                          std::int64_t epochs,
                                          const std::optional<std::int64_t>& minibatches);

// The extent of `count` consecutive minibatches of the stream `batches`, each of `batch` samples
// and cut into `microbatches` if it is a full one. `last` is the number of the last of them in the
// stream.
[[nodiscard]] schedule::Extent extent_of(const data::Batches& batches, std::int64_t batch,
                                         int microbatches, std::int64_t last, std::int64_t count);

// Immutable, so safe to use from several threads.
class Course {
 public:
  // `replicas` says how replicas of the plan's stages divide the work.
  Course(const CourseOptions& options, const plan::Plan& plan, cost::Replicas replicas);

  // The minibatches that the schedule trains. They have Recipe::batch samples or, if the replicas
  // of the first stage share a minibatch (dapple), that many for each replica.
  [[nodiscard]] const data::Batches& batches() const { return batches_; }
  [[nodiscard]] std::int64_t batch() const { return batch_; }
  // Minibatches of the stream that are still to be trained.
  [[nodiscard]] std::int64_t minibatches() const { return minibatches_; }
  // Samples of the whole training, over all epochs. Samples that were trained before this run are
  // counted too.
  [[nodiscard]] std::int64_t all_samples() const { return all_samples_; }
  // The number of minibatches of Recipe::batch samples in the first `samples` samples of the
  // training.
  [[nodiscard]] std::int64_t counted(std::int64_t samples) const {
    return in_users_units_.minibatches_until(samples);
  }

  // The stretch that begins with minibatch `first` of the stream, which must be 0 or the end of
  // another stretch.
  [[nodiscard]] Stretch stretch_from(std::int64_t first) const;
  // Where a training ends that is stopped when no worker has begun a minibatch of the stream after
  // `begun`: at the end of a whole update, or of the stretch, that none of them has passed. `begun`
  // is −1 if none was begun.
  [[nodiscard]] std::int64_t end_after(std::int64_t begun) const;
  // The first `count` minibatches of a stretch, with a checkpoint after them.
  [[nodiscard]] Stretch shortened(Stretch stretch, std::int64_t count) const {
    if (count < stretch.count) stretch.ends_epoch = stretch.evaluates = false;
    stretch.count = count;
    stretch.saves = true;
    return stretch;
  }
  // The extent of the stretch's schedule.
  [[nodiscard]] schedule::Extent extent(const Stretch& stretch) const {
    if (options_.extent) return *options_.extent;
    return extent_of(batches_, batch_, microbatches_, stretch.first + stretch.count - 1,
                     stretch.count);
  }
  // The number that dropout is seeded with in minibatch `minibatch` of the stream.
  [[nodiscard]] std::int64_t seeding_number(std::int64_t minibatch) const {
    return options_.beginning.minibatch + minibatch;
  }
  // Samples trained before the stretch, over all epochs.
  [[nodiscard]] std::int64_t samples_before(const Stretch& stretch) const {
    return options_.beginning.samples + batches_.samples_until(stretch.first);
  }
  // Samples trained up to the end of the stretch, over all epochs.
  [[nodiscard]] std::int64_t samples_after(const Stretch& stretch) const {
    return options_.beginning.samples + batches_.samples_until(stretch.first + stretch.count);
  }

 private:
  // The end of the whole update that minibatch `minibatch` − 1 belongs to: a number of the stream,
  // at most `end`.
  [[nodiscard]] std::int64_t end_of_update(std::int64_t epoch, std::int64_t minibatch,
                                           std::int64_t end) const;

  CourseOptions options_;
  int microbatches_;
  std::int64_t batch_;            // samples of a minibatch of the schedule
  std::int64_t round_;            // minibatches of a whole update of all stages
  data::Batches in_users_units_;  // all samples from the training's beginning, by Recipe::batch
  std::int64_t all_samples_;      // of the whole training
  data::Batches batches_;
  std::int64_t minibatches_;
};

}  // namespace pipedream::train
