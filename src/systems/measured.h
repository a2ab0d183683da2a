// The figures of a training run, in the form of those of a simulation (systems/simulation.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.h"
#include "timeline/account.h"
#include "timeline/timeline.h"

namespace pipedream::systems {

// The staleness of the gradients of one stage: the number of updates between the weights that a
// gradient was computed with and the weights that it was applied to.
struct Staleness {
  std::int64_t most = 0;
  double mean = 0;
};

// How a training did that had a target, or that was to end when it learns no more.
struct GoalResult {
  std::string figure;            // of held-out data: "accuracy", "perplexity" or "loss"
  std::optional<double> wanted;  // nullopt if there was no target
  bool reached = false;
  std::optional<double> best;  // the best value of the figure; nullopt if it was never a number
  // If the training ended because the figure did not improve: for how many epochs it had not.
  std::optional<std::int64_t> stalled_epochs;
  std::int64_t samples = 0;  // trained before the last evaluation, over all epochs
  Seconds training{0};       // that this run took up to there, evaluations excluded
};

struct Measured {
  std::int64_t minibatches = 0;  // of all epochs, counted in units of the network's batch size
  std::int64_t samples = 0;      // of all epochs
  // Minibatches that were trained before this run resumed the training from a checkpoint; 0 if it
  // was not resumed.
  std::int64_t resumed_at = 0;
  // `summary` and `timeline` cover the minibatches from `first_timed` until before `timed_end`,
  // counted like `minibatches`: the longest part that was trained without a checkpoint or an
  // evaluation in between.
  std::int64_t first_timed = 0;
  std::int64_t timed_end = 0;
  timeline::Summary summary;
  std::optional<Seconds> drain;  // timeline::Summary::drain of `summary`
  int checkpoints = 0;           // written by this run
  double samples_per_second = 0;
  double samples_per_update = 0;
  double bytes_per_sample = 0;          // bytes that all workers sent
  std::vector<Bytes> memory;            // by worker: peak memory of libtorch
  std::vector<Staleness> staleness;     // by stage
  double loss = 0;                      // of the last minibatch
  std::optional<double> held_out_loss;  // nullopt if nothing was evaluated
  std::optional<double> accuracy;       // on held-out samples; nullopt if no labels are predicted
  std::optional<double> perplexity;     // on held-out samples; nullopt if no words are predicted
  std::optional<double> top5;           // on held-out samples; nullopt if no classes are predicted
  std::optional<GoalResult> goal;       // nullopt if there was none
  Seconds seconds{0};                   // the whole training, including evaluation
  timeline::Timeline timeline;          // numbered like `first_timed`; empty unless asked for
};

// Returns the staleness of each stage, from the events of a run. For each minibatch that an update
// applies, it is the difference between the version that the update started from and the version
// that the minibatch's backward used. Requires the events of each worker in the order of its
// program.
[[nodiscard]] std::vector<Staleness> staleness_of(const std::vector<timeline::Event>& events,
                                                  std::size_t stages);

}  // namespace pipedream::systems
