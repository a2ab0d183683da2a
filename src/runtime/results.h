// What comes out of a run, brought together at worker 0 over the transport, whether workers are
// threads or processes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/worker.h"
#include "timeline/timeline.h"

namespace pipedream::runtime {

struct StagePeaks {
  StageId stage;
  std::int64_t versions = 0;  // of the weights, alive at once
  std::int64_t items = 0;     // between forward and backward at once
  friend bool operator==(const StagePeaks&, const StagePeaks&) = default;
};

struct WorkerResult {
  WorkerId worker;
  std::vector<timeline::Event> events;  // of the segment run last
  std::vector<StagePeaks> peaks;        // in the order of stages
  Bytes sent;
  Bytes peak_memory;
  Lateness lateness;
};

struct Weights {
  std::map<std::string, at::Tensor> parameters;
  std::map<std::string, at::Tensor> buffers;
};

// Each of these is called by all workers at the same point of their runs; worker 0 gets the answer,
// the others none (zero).
[[nodiscard]] Score sum_scores(const Score& own, transport::Transport& control,
                               std::chrono::milliseconds patience);
[[nodiscard]] std::vector<WorkerResult> gather(Worker& worker, Bytes peak_memory,
                                               transport::Transport& control,
                                               std::chrono::milliseconds patience);
// The newest weights and the layers' state of all stages; of replicas, those of the first.
[[nodiscard]] Weights gather_weights(Worker& worker, const Job& job, transport::Transport& control);

}  // namespace pipedream::runtime
