// Asynchronous data parallelism (dp-asp) as one worker sees it: the worker sends its gradients to
// parameter servers, one on every worker, and fetches the weights that they then hold
// (docs/runtime.md: Data parallelism).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "runtime/gradient_buckets.h"
#include "runtime/host_copies.h"
#include "runtime/parameter_server.h"
#include "runtime/stage.h"

namespace pipedream::runtime {

// Staleness of gradients, measured for every minibatch and every server's shard: the number of
// updates that other workers made to the shard between the fetch of the weights and the update with
// the gradients computed from them.
struct Lateness {
  std::int64_t most = 0;   // the largest measurement
  std::int64_t sum = 0;    // of all measurements
  std::int64_t count = 0;  // number of measurements
};

// The weights of a stage that is trained asynchronously, and this worker's parameter server. With m
// workers, server j holds part j of every bucket: of n floats, [n·j/m, n·(j+1)/m), rounded down.
// The parts of a server are its shard of the weights, which is in host memory.
//
// Owned by one worker and used from its thread; autograd may call in from another thread while the
// worker's thread waits for autograd. The stage, the copies and the channels outlive it.
class AsynchronousWeights {
 public:
  struct Channels {
    transport::Transport& pushes;   // workers send gradients, servers receive them
    transport::Transport& replies;  // servers send weights, workers receive them
  };
  // Starts this worker's server with a shard of the stage's current weights. `members` are all
  // workers, in the same order on each. The server steps with `optimiser` and computes with
  // `threads` threads. `patience` is the longest wait for a server's answer.
  AsynchronousWeights(const Channels& channels, std::vector<WorkerId> members, Stage& stage,
                      const HostCopies& copies, const BucketSizes& sizes,
                      std::unique_ptr<Optimiser> optimiser, int threads,
                      std::chrono::milliseconds patience);
  ~AsynchronousWeights();

  // Announces that the next backward completes a minibatch's gradients: each bucket is sent to the
  // servers while the backward runs, as soon as it is complete. `rate`: ParameterStep::rate of the
  // steps with these gradients.
  void expect(double rate);
  // Sends the buckets that have not been sent yet.
  void push(double rate);
  // Waits until all servers have applied the pushed gradients. The weights that they then hold
  // become version `to` of the stage. Throws WorkerLost after `patience`.
  void pull(WeightVersion to);
  // Called by every worker when it has nothing more to push. Waits until all workers have called
  // it; afterwards all have the same weights, as the newest version of the stage. Throws WorkerLost
  // when no worker has sent this worker's server anything for `patience`.
  void settle();

  // The optimiser state of parameters, whole, put together from the shards of all servers. Each
  // worker gets that of the parameters that it writes (writers_of), by index. Must be called by all
  // workers between two segments.
  [[nodiscard]] std::map<std::size_t, OptimiserState> gather_state(
      transport::Transport& control) const;
  // Sets the optimiser state of this worker's server. `find` returns the state of a parameter,
  // whole; it may be empty. Must be called by all workers between two segments.
  void set_state(transport::Transport& control,
                 const std::function<OptimiserState(std::size_t parameter)>& find);
  // The names that the state of a parameter has.
  [[nodiscard]] std::vector<std::string> state_names() const {
    return server_->optimiser().state_names();
  }

  // Bytes of gradients sent to other workers' servers, plus bytes of weights received from them.
  // The receiver counts the weights because servers do not count; so the sum over all workers is
  // the number of bytes sent by all.
  [[nodiscard]] Bytes sent() const { return sent_; }
  [[nodiscard]] const Lateness& lateness() const { return lateness_; }

 private:
  // Where a server keeps a piece of a parameter: in which bucket, and from which float of its
  // shard. `writer` is the worker that gets the parameter's state.
  struct PlaceOfPiece {
    std::size_t bucket;
    std::size_t server;
    std::int64_t begin;
    std::size_t writer;
  };
  // Adds the state of one piece to `gathered`, at the worker that gets it.
  void gather_piece(const PlaceOfPiece& at_place, const BucketLayout::Piece& piece,
                    transport::Transport& control,
                    std::map<std::size_t, OptimiserState>& gathered) const;
  // Sends every server its part of a complete bucket.
  void send(std::size_t bucket, const at::Tensor& flat, double rate);
  // Returns a deadline that may have moved to a later time since the last call.
  using MovingDeadline = std::function<transport::Deadline()>;
  // Copies the next answer of a server into `weights`. Returns the staleness that the answer
  // reports (see Lateness). Receives one bucket after another, so that an answer from another
  // process needs memory for one bucket only.
  std::int64_t fetch(std::size_t server, const model::Tensors& weights,
                     const MovingDeadline& deadline);
  // The next message from a server. If this worker's own server has failed, throws its failure.
  [[nodiscard]] transport::Message message_of(std::size_t server, const MovingDeadline& deadline);

  Channels channels_;
  std::vector<WorkerId> members_;
  Stage& stage_;
  const HostCopies& copies_;
  std::chrono::milliseconds patience_;
  GradientBuckets buckets_;
  Buckets pushed_;  // the gradients of the last push(), kept until the servers have answered
  std::vector<std::int64_t> versions_;  // by server: the version of its shard fetched last
  Lateness lateness_;
  Bytes sent_;
  std::unique_ptr<ParameterServer> server_;
};

}  // namespace pipedream::runtime
