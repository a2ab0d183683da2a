// Asynchronous data parallelism as one worker sees it: its gradients go to the servers, one on
// every worker, and what they then hold becomes its weights.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/gradient_buckets.h"
#include "runtime/host_copies.h"
#include "runtime/parameter_server.h"
#include "runtime/stage.h"

namespace pipedream::runtime {

// How many updates by others came between the weights that gradients were computed with and their
// own; counted for each minibatch and shard.
struct Lateness {
  std::int64_t most = 0;
  std::int64_t sum = 0;
  std::int64_t count = 0;
};

// Owned and used by one worker. Server j of m has part j of every bucket of n floats:
// [n·j/m, n·(j+1)/m), rounded down, in the host's memory. The stage, the copies and the channels
// outlive this.
class AsynchronousWeights {
 public:
  struct Channels {
    transport::Transport& pushes;
    transport::Transport& replies;
  };
  AsynchronousWeights(const Channels& channels, std::vector<WorkerId> members, Stage& stage,
                      const HostCopies& copies, const BucketSizes& sizes,
                      std::unique_ptr<Optimiser> optimiser, int threads,
                      std::chrono::milliseconds patience);
  ~AsynchronousWeights();

  // The backward that runs next completes the gradients: they leave while it runs.
  void expect();
  // Sends what has not left.
  void push();
  // Waits until the servers have applied what was pushed; the stage's next version is what they
  // then hold.
  void pull(WeightVersion to);
  // All workers call this when they have nothing more to push, and then have the same weights.
  void settle();

  // To the servers of others, and from them: counted here, so that over all workers it is what they
  // sent.
  [[nodiscard]] Bytes sent() const { return sent_; }
  [[nodiscard]] const Lateness& lateness() const { return lateness_; }

 private:
  void send(std::size_t bucket, const at::Tensor& flat);
  // May move on while somebody waits.
  using MovingDeadline = std::function<transport::Deadline()>;
  // Takes a server's part of the weights from its next answer, bucket by bucket: where that comes
  // from another process, no more of it need be there at once. How many updates by others came
  // between.
  std::int64_t fetch(std::size_t server, const model::Tensors& weights,
                     const MovingDeadline& deadline);
  [[nodiscard]] transport::Message message_of(std::size_t server, const MovingDeadline& deadline);

  Channels channels_;
  std::vector<WorkerId> members_;
  Stage& stage_;
  const HostCopies& copies_;
  std::chrono::milliseconds patience_;
  GradientBuckets buckets_;
  Buckets pushed_;                      // until the servers have answered
  std::vector<std::int64_t> versions_;  // of each server's shard here
  Lateness lateness_;
  Bytes sent_;
  std::unique_ptr<ParameterServer> server_;
};

}  // namespace pipedream::runtime
