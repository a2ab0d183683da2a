// The parameter server of one worker in asynchronous data parallelism (dp-asp): it holds a shard of
// the weights, applies gradients from all workers in the order in which they arrive, and answers
// with the resulting weights (docs/runtime.md: Data parallelism).
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <c10/util/ThreadLocalDebugInfo.h>

#include "model/layer.h"
#include "runtime/optimiser.h"
#include "transport/transport.h"

namespace pipedream::runtime {

// The kind of a message to a server: the first number of its header.
enum class Request : std::int64_t {
  // One bucket of gradients. The header goes on with the bucket's index, the version of the shard
  // that the gradients were computed with, and the bits of ParameterStep::rate. The server answers
  // the last bucket of a minibatch
  // with the whole shard, one message per bucket. The header of each answer has the shard's version
  // and the number of updates by other workers since the version that the gradients were computed
  // with. A worker does not push again before it has used the previous answer.
  kGradients,
  kSettle,  // the worker has nothing more to push
  kLeave    // from the server's own worker: the server ends
};

// Owned by one worker. Serves on a thread of its own, whose memory counts as the worker's.
//  1. Each worker pushes the buckets of a minibatch in ascending order. A bucket is applied when it
//     arrives, by one step of the optimiser, even between the buckets of another worker.
//  2. When all workers have sent kSettle, all are answered with the shard as it is then.
class ParameterServer {
 public:
  // Only this server receives on `pushes` and only this server sends on `replies`, at this worker's
  // endpoints. `shard` has one tensor per bucket, with the initial weights. The channels outlive
  // the server.
  ParameterServer(transport::Transport& pushes, transport::Transport& replies,
                  std::vector<WorkerId> members, model::Tensors shard,
                  std::unique_ptr<Optimiser> optimiser, int threads);
  // Waits until the thread ends. The worker must have sent kLeave to itself, or the channels must
  // be aborted.
  ~ParameterServer();
  ParameterServer(const ParameterServer&) = delete;
  ParameterServer& operator=(const ParameterServer&) = delete;

  // The optimiser and its state of the shard: parameter b is bucket b. May be used only while no
  // worker has anything to push: after all have been answered to kSettle, and before the next push.
  [[nodiscard]] Optimiser& optimiser() { return *optimiser_; }
  // The weights of one bucket of the shard, with the same rule.
  [[nodiscard]] const at::Tensor& weights(std::size_t bucket) const { return shard_.at(bucket); }

  // Throws the failure of this server, if it has failed other than by an abort of the channels. May
  // be called from any thread.
  void rethrow_failure();
  // When the server last received a message from any worker. May be called from any thread.
  [[nodiscard]] transport::Deadline last_heard() const {
    return transport::Deadline(transport::Deadline::duration(heard_.load()));
  }

 private:
  // The thread: serves, and keeps a failure. `meter` counts the memory that the thread allocates.
  void run(int threads, std::shared_ptr<c10::ThreadLocalDebugInfo> meter);
  // Handles requests until kLeave.
  void serve(int threads);
  // Applies one bucket of gradients from `members_[member]`; answers if it is the last bucket.
  void apply(std::size_t member, const transport::Message& message);
  // Sends the shard to `members_[member]`. `behind`: the number of updates by other workers since
  // the shard's version that the worker had.
  void answer(std::size_t member, std::int64_t behind);

  transport::Transport& pushes_;
  transport::Transport& replies_;
  std::vector<WorkerId> members_;
  model::Tensors shard_;
  std::unique_ptr<Optimiser> optimiser_;
  // By member and bucket: the memory in which the shard is copied to answer. It is kept because
  // memory that one thread allocates and another frees would cost new pages for every answer, which
  // takes longer than the copy.
  std::vector<std::vector<std::shared_ptr<at::Tensor>>> answers_;
  std::int64_t version_ = 0;  // of the shard: the number of minibatches applied, from all workers
  std::atomic<transport::Deadline::rep> heard_;  // last_heard()
  std::mutex mutex_;                             // guards `failure_`
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace pipedream::runtime
