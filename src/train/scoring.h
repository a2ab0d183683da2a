// The score of a network on held-out data, computed by all workers together (docs/runtime.md:
// Epochs).
#pragma once

#include <functional>

#include "data/data_set.h"
#include "runtime/worker.h"

namespace pipedream::train {

// What to compute a score on: the first `samples` samples of `data`.
struct ScoredData {
  const data::DataSet& data;
  std::int64_t samples = 1;
  std::int64_t batch = 1;  // samples of a minibatch of the schedule
};

// How many samples of `data` are evaluated if `wanted` are asked for: whole minibatches if the
// network computes no smaller ones.
[[nodiscard]] std::int64_t evaluated_samples(const data::DataSet& data,
                                             const model::Network& network, std::int64_t wanted);

// Returns the sum of all workers' scores. Must be called by all workers of `job` at the same point,
// between two segments. `progress` is called at worker 0 with the minibatches done and the number
// of all. Throws WorkerLost if a worker waits for another one for longer than `Job::patience`.
[[nodiscard]] runtime::Score score_on(
    const ScoredData& scored, const runtime::Job& job, runtime::Worker& worker,
    transport::Transport& control,
    const std::function<void(std::int64_t done, std::int64_t all)>& progress);

}  // namespace pipedream::train
