// Training from beginning to end: epochs through the pipeline, evaluation after each, results.
#pragma once

#include <functional>
#include <optional>

#include "runtime/job.h"
#include "runtime/results.h"
#include "runtime/run.h"
#include "systems/measured.h"
#include "systems/schedules.h"
#include "train/data_set.h"

namespace pipedream::train {

inline constexpr std::int64_t kMostMinibatches = std::int64_t{1} << 40;  // and epochs

// What is to be trained, and how long. The same on all workers.
struct Recipe {
  std::int64_t batch = 1;   // samples of a minibatch on one input replica
  std::int64_t epochs = 1;  // unless minibatches are given
  // Of `batch` samples, so that all plans train the same samples: where input replicas share
  // minibatches, the schedule has as many times fewer of them.
  std::optional<std::int64_t> minibatches;
  systems::ScheduleOptions weights;  // which versions are used; its lengths do not matter
  // Instead of the plan's own schedule: one that validates against the plan, and what it trains.
  const schedule::Schedule* schedule = nullptr;
  std::optional<schedule::Extent> extent;  // of that schedule
  bool evaluate = true;
};

// A minibatch of the schedule was trained. Minibatches are counted in units of Recipe::batch
// samples, whatever the system: one of the schedule's may be several of these, where replicas share
// minibatches.
struct Step {
  std::int64_t minibatch = 0;    // the last one of these that was trained, from 0, in all epochs
  std::int64_t minibatches = 0;  // that will be trained in all
  std::int64_t samples = 0;      // trained so far
  double loss = 0;               // the mean over the samples of the schedule's minibatch
  Seconds seconds{0};            // since the training began, evaluations included
  Seconds training_seconds{0};   // the same without evaluations
};

// Some of the held-out minibatches were evaluated.
struct EvaluationStep {
  std::int64_t epoch = 0;        // the one that has ended, from 0
  std::int64_t done = 0;         // minibatches
  std::int64_t minibatches = 0;  // in all
  Seconds seconds{0};            // since this evaluation began
};

// An epoch has ended and was evaluated.
struct Evaluation {
  std::int64_t epoch = 0;        // from 0
  std::int64_t minibatches = 0;  // trained so far, counted as in Step
  runtime::Score score;
  Seconds seconds{0};

  // The share of labels, or words, that were predicted right. Nothing if the network predicts none.
  [[nodiscard]] std::optional<double> accuracy() const;
  // Only of networks that predict several labels per sample: words.
  [[nodiscard]] std::optional<double> perplexity() const;
};

// Who wants to know while it goes on; called in the process of worker 0, by one thread at a time.
struct Observer {
  std::function<void(const Step&)> step = [](const Step&) {};
  std::function<void(const EvaluationStep&)> evaluating = [](const EvaluationStep&) {};
  std::function<void(const Evaluation&)> evaluation = [](const Evaluation&) {};
};

struct TrainingOutcome {
  systems::Measured measured;
  runtime::Weights weights;
  std::vector<runtime::WorkerResult> workers;
};

// What replicas do with an item in the recipe's schedule: what Job::replicas must be. Throws
// BadUsage or CannotMeet, before anything runs, where the plan's system cannot do what job or
// recipe ask.
[[nodiscard]] schedule::Replicas check_recipe(const Recipe& recipe, const runtime::Job& job);

// Trains on threads of this process; whatever failed first is thrown.
[[nodiscard]] TrainingOutcome train_on_threads(const Recipe& recipe, const runtime::Job& job,
                                               const Data& data, const Observer& observer,
                                               const std::optional<transport::Links>& link);

// Trains as one worker of many processes, all of which call it alike. The outcome is worker 0's.
[[nodiscard]] std::optional<TrainingOutcome> train_as_process(
    transport::MpiWorld& world, const Recipe& recipe, const runtime::Job& job, const Data& data,
    const Observer& observer, const std::optional<transport::Links>& link);

}  // namespace pipedream::train
