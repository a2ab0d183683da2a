// Collects the results of all workers at worker 0. They travel as messages, whether workers are
// threads or processes (docs/runtime.md: Workers).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/worker.h"
#include "timeline/timeline.h"

namespace pipedream::runtime {

// The largest numbers that one worker had at once for one of its stages, over the whole run.
struct StagePeaks {
  StageId stage;
  std::int64_t versions = 0;  // weight versions alive
  std::int64_t items = 0;     // items in flight: forward done, backward not
  friend bool operator==(const StagePeaks&, const StagePeaks&) = default;
};

struct WorkerResult {
  WorkerId worker;
  std::vector<timeline::Event> events;  // of the last training segment
  std::vector<StagePeaks> peaks;        // one per stage of the worker, ascending by stage
  Bytes sent;                           // Worker::sent()
  Bytes peak_memory;                    // as the worker passed it to gather()
  Lateness lateness;                    // Worker::lateness()
};

// The trained network, by name of the tensor.
struct Weights {
  std::map<std::string, at::Tensor> parameters;
  std::map<std::string, at::Tensor> buffers;  // layers' state that takes no gradients
};

// The functions below must be called by all workers at the same point of their runs. Each throws
// WorkerLost if a worker waits for another one for longer than `patience`. Of all but
// sum_scores(), only worker 0 gets the result; the other workers get an empty one.

// The sum of all workers' scores, for all workers.
[[nodiscard]] Score sum_scores(const Score& own, transport::Transport& control,
                               std::chrono::milliseconds patience);
// The results of all workers, in the order of workers.
[[nodiscard]] std::vector<WorkerResult> gather(Worker& worker, Bytes peak_memory,
                                               transport::Transport& control,
                                               std::chrono::milliseconds patience);
// The newest weights and the buffers of all stages, in host memory. Of a replicated stage, those of
// its first replica. The longest wait is `Job::patience`.
[[nodiscard]] Weights gather_weights(Worker& worker, const Job& job, transport::Transport& control);

}  // namespace pipedream::runtime
