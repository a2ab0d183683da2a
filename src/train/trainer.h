// A training run from beginning to end: epochs through the pipeline, an evaluation after each, and
// the results (docs/runtime.md).
#pragma once

#include <functional>
#include <optional>

#include "data/data_set.h"
#include "runtime/job.h"
#include "runtime/results.h"
#include "runtime/run.h"
#include "runtime/state.h"
#include "systems/measured.h"
#include "systems/schedules.h"
#include "train/course.h"
#include "train/goal.h"
#include "train/learning_rate.h"
#include "train/saver.h"
#include "train/slow_cause.h"
#include "train/speed_watch.h"

namespace pipedream::train {

inline constexpr Nanos kSlowAfter = std::chrono::seconds(60);
inline constexpr std::int64_t kMostMinibatches = std::int64_t{1} << 40;  // also the limit of epochs

// What to train, and for how long. All workers have the same recipe.
struct Recipe {
  std::int64_t batch = 1;   // samples of a minibatch on one replica of the first stage
  std::int64_t epochs = 1;  // passes over the training data; ignored if `minibatches` is set
  // Minibatches to train, of `batch` samples each. A plan whose input replicas share minibatches
  // (dapple) has fewer and larger minibatches in its schedule, so that all plans train the same
  // samples.
  std::optional<std::int64_t> minibatches;
  systems::ScheduleOptions schedule_options;  // its lengths are ignored
  double learning_rate = 0;                   // of the optimiser, to report in Step::learning_rate
  RateOptions rate;                           // how it changes; gives Job::rate
  // A schedule to use instead of the one that the plan's system generates, or null. It must
  // validate against the plan. `extent` says what it trains.
  const schedule::Schedule* schedule = nullptr;
  std::optional<schedule::Extent> extent;  // what `schedule` trains; set exactly if `schedule` is
  // Whether the optimiser keeps averages of the weights. Then these are what is evaluated, and what
  // TrainingOutcome::weights has.
  bool uses_averages = false;
  bool evaluate = true;
  // Minibatches of `batch` samples from one evaluation to the next. Not set: after every epoch. The
  // training always ends with an evaluation.
  std::optional<std::int64_t> evaluate_every;
  std::optional<std::int64_t> evaluation_samples;  // held-out samples to evaluate; not set: all
  Goal goal;                                       // when the training ends early
  CheckpointTimes checkpoints;                     // ignored unless `saving` is set
  std::optional<Saving> saving;                    // where checkpoints go; not set: nowhere
  Beginning beginning;                             // what was trained before
  // Finds the tensors of the checkpoint that the training goes on from. Empty if it begins anew, or
  // if this process does not see the checkpoint.
  runtime::FindTensor resumed;
  bool resumes = false;  // whether the training goes on from a checkpoint
  // Whether a worker's machine sees the folder of checkpoints, and the checkpoint to go on from.
  // Empty: that is found out. Tests set it.
  std::function<bool(WorkerId)> sees_files;
  // Finds weights to begin with instead of random ones (runtime::load_weights). May be empty.
  runtime::FindTensor initial;
  // Called about 20 times a second at worker 0, by a thread of its own: returns whether the
  // training is to end early, with a checkpoint. Empty: it never does. Ignored unless `saving` is
  // set.
  std::function<bool()> is_stopped;
  // What the plan promises, to say in Step::slow_cause why the training is slower. Used at worker
  // 0.
  std::optional<Expectation> expected;
  // For how long a worker must be slower than the others to be told of (Observer::odd_workers).
  Nanos slow_after = kSlowAfter;
};

// Reported when a minibatch of the schedule was trained. The fields count minibatches of
// Recipe::batch samples, for every system. If replicas share minibatches, one minibatch of the
// schedule counts as several.
struct Step {
  std::int64_t minibatch = 0;     // the last one trained, counted from 0 over all epochs
  std::int64_t minibatches = 0;   // number in the whole training
  std::int64_t samples = 0;       // trained so far
  std::int64_t resumed_from = 0;  // samples that were trained before this run resumed the training
  double loss = 0;                // mean over the samples of the schedule's minibatch
  double learning_rate = 0;       // of the first stage's next update
  Seconds seconds{0};             // since this run began, evaluations included
  Seconds training_seconds{0};    // since this run began, evaluations excluded
  std::string slow_cause{};       // what slow_cause() says of the last seconds; empty if nothing

  // The speed of this run so far, evaluations excluded.
  [[nodiscard]] double samples_per_second() const {
    return static_cast<double>(samples - resumed_from) / training_seconds.count();
  }
};

// Reported when some of the held-out minibatches were evaluated.
struct EvaluationStep {
  std::int64_t epoch = 0;        // the epoch that has ended, from 0
  std::int64_t done = 0;         // minibatches evaluated so far
  std::int64_t minibatches = 0;  // minibatches of the whole evaluation
  Seconds seconds{0};            // since this evaluation began
};

// Reported when the held-out data was evaluated.
struct Evaluation {
  std::int64_t epoch = 0;        // the one that was trained last, from 0
  bool ends_epoch = true;        // whether all of it was trained
  std::int64_t minibatches = 0;  // trained so far, counted as in Step
  std::int64_t samples = 0;      // trained so far
  runtime::Score score;
  Seconds seconds{0};           // since this run began
  Seconds training_seconds{0};  // since this run began, evaluations excluded

  // The share of labels (for text: words) that were predicted right. Nothing if the network
  // predicts none.
  [[nodiscard]] std::optional<double> accuracy() const { return accuracy_of(score); }
  // The exponential of the mean loss. Nothing unless the network predicts several labels per
  // sample, such as words.
  [[nodiscard]] std::optional<double> perplexity() const { return perplexity_of(score); }
  [[nodiscard]] std::optional<double> top5() const { return top5_of(score); }
};

// Callbacks that are called while a training runs. They are called in the process of worker 0, by
// one thread at a time. An exception that one of them throws ends the training.
struct Observer {
  std::function<void(const Step&)> step = [](const Step&) {};
  std::function<void(const EvaluationStep&)> evaluating = [](const EvaluationStep&) {};
  std::function<void(const Evaluation&)> evaluation = [](const Evaluation&) {};
  // Workers have become slower than the others, or faster again. Never called without
  // Recipe::expected.
  std::function<void(const OddWorkers&)> odd_workers = [](const OddWorkers&) {};
};

struct TrainingOutcome {
  systems::Measured measured;
  runtime::Weights weights;
  std::vector<runtime::WorkerResult> workers;
  // Why the last checkpoint could not be written; nullopt if it could, or none was wanted.
  std::optional<std::string> unsaved;
  bool interrupted = false;  // whether the training ended early (Recipe::is_stopped)
};

// Returns what replicas do with an item in the schedule of `recipe`; Job::replicas must be set to
// it. Throws CannotMeet or BadUsage, before anything runs, if the plan's system cannot do what
// `job` or `recipe` asks.
[[nodiscard]] schedule::Replicas check_recipe(const Recipe& recipe, const runtime::Job& job);

// Trains on threads of this process, one per worker. If workers fail, throws the first failure.
[[nodiscard]] TrainingOutcome train_on_threads(const Recipe& recipe, const runtime::Job& job,
                                               const data::Data& data, const Observer& observer,
                                               const std::optional<transport::Links>& link);

// Trains as one worker of a world of processes. All processes must call it with the same arguments.
// Only worker 0 gets an outcome. The other workers get only `interrupted`.
[[nodiscard]] TrainingOutcome train_as_process(transport::MpiWorld& world, const Recipe& recipe,
                                               const runtime::Job& job, const data::Data& data,
                                               const Observer& observer,
                                               const std::optional<transport::Links>& link);

// Says which worker of train_as_process() was lost, and in which op: "worker 1 (process 4711 on
// host-a) was killed or crashed in 0:F3@3 (stage 0, minibatch 3)".
[[nodiscard]] std::string describe(const transport::LostProcess& lost, const std::string& host);

}  // namespace pipedream::train
