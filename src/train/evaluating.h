// Evaluates a trained network on data, without training it: `pipedream evaluate`.
#pragma once

#include <chrono>
#include <functional>

#include "data/data_set.h"
#include "runtime/devices.h"
#include "runtime/score.h"
#include "runtime/state.h"

namespace pipedream::train {

// What to evaluate, and with what.
struct EvaluationCase {
  const model::Network& network;
  runtime::FindTensor weights;  // finds all parameters and buffers of the network
  const data::DataSet& data;
  std::int64_t samples = 1;  // to evaluate, from the first of `data` on
  int workers = 1;           // threads of this process; each has the whole network
  int threads = 1;           // that each worker computes with
  bool bind_cores = true;    // Job::bind_cores
  runtime::Computing computing;
  // Called with the minibatches done and the number of all, by one thread.
  std::function<void(std::int64_t done, std::int64_t all)> progress;
};

// Returns the score of the network. Its figures do not depend on the number of workers, but for the
// rounding of sums. If workers fail, throws the first failure.
[[nodiscard]] runtime::Score evaluate(const EvaluationCase& of);

}  // namespace pipedream::train
