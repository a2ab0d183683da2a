// One worker's shard of the weights in asynchronous data parallelism: it takes gradients from all
// workers as they come, and hands out the weights that then are.
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

// What a message to a server is about: the first number of its header.
enum class Request : std::int64_t {
  // Then the bucket, and the version of the shard that they were computed with. The last bucket is
  // answered by the whole shard, bucket by bucket; the header of each has the shard's version, and
  // how many updates by others came between. A worker that has not used an answer asks no more.
  kGradients,
  kSettle,  // the worker has nothing more to push
  kLeave    // from the server's own worker: the end
};

// Owned by one worker; works on a thread of its own, whose memory counts with the worker's.
//  1. A worker's buckets come in order and are applied in order of arrival, each by one step of the
//     optimiser, whoever else pushes meanwhile.
//  2. When all workers have said kSettle, all get the shard as it then is.
class ParameterServer {
 public:
  // Gradients come by `pushes`, where nobody else receives, and weights go by `replies`, where
  // nobody else sends. `shard` is one tensor per bucket, with the first weights.
  ParameterServer(transport::Transport& pushes, transport::Transport& replies,
                  std::vector<WorkerId> members, model::Tensors shard,
                  std::unique_ptr<Optimiser> optimiser, int threads);
  // The worker must have sent kLeave to itself, or the channels must be aborted.
  ~ParameterServer();
  ParameterServer(const ParameterServer&) = delete;
  ParameterServer& operator=(const ParameterServer&) = delete;

  // Throws what this server failed with, unless that was another's failure. From any thread.
  void rethrow_failure();
  // When it last heard from any worker.
  [[nodiscard]] transport::Deadline last_heard() const {
    return transport::Deadline(transport::Deadline::duration(heard_.load()));
  }

 private:
  void run(int threads, std::shared_ptr<c10::ThreadLocalDebugInfo> meter);
  void serve(int threads);
  void apply(std::size_t member, const transport::Message& message);
  void answer(std::size_t member, std::int64_t behind);

  transport::Transport& pushes_;
  transport::Transport& replies_;
  std::vector<WorkerId> members_;
  model::Tensors shard_;
  std::unique_ptr<Optimiser> optimiser_;
  // For every member a copy of the shard to answer with. They stay: memory that one thread takes
  // and another frees would cost new pages each time, and these take longer than the copies.
  std::vector<std::vector<std::shared_ptr<at::Tensor>>> answers_;
  std::int64_t version_ = 0;  // minibatches applied
  std::atomic<transport::Deadline::rep> heard_;
  std::mutex mutex_;  // of the failure
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace pipedream::runtime
