// All-reduces the weight gradients of replicated stages within their replica groups, while the
// worker computes (docs/runtime.md: Data parallelism, and Sums for the orders of summation).
#pragma once

#include <chrono>
#include <map>
#include <memory>

#include "runtime/gradient_buckets.h"
#include "runtime/host_copies.h"
#include "schedule/ops.h"
#include "schedule/routes.h"
#include "transport/collective.h"

namespace pipedream::runtime {

class Stage;

// The settings of an all-reduce among replicas.
struct AveragingOptions {
  transport::Way way;   // which exchange is used, and the workers' hosts
  BucketSizes buckets;  // when a bucket is full
};

// The weight gradients of all replicated stages of one worker. The result is a sum, not an average:
// dividing it is left to the caller. For each Reduce op the worker calls start(), preceded by
// expect() if the backward before it completes the gradients, then wait(), gradients() and
// used_up(). Several all-reduces may be under way at once.
//
// A bucket on a device is copied to the host and summed there, in the order of summation of
// `AveragingOptions::way` (transport/all_reduce.h). If `device_sums` is given and the exchange is a
// ring, buckets are summed in device memory instead, in the order of summation of `device_sums`.
//
// Owned by one worker and used from its thread; autograd may call in from another thread while the
// worker's thread waits for autograd. A thread of its own does the sums (transport::Reducer). What
// the constructor refers to outlives it.
class ReplicaGradients {
 public:
  // `channel` carries the all-reduces and nothing else. `patience` is the longest wait for a sum.
  ReplicaGradients(transport::Transport& channel, transport::Sum device_sums,
                   const schedule::Routes& routes, const AveragingOptions& averaging,
                   const HostCopies& copies, std::chrono::milliseconds patience);

  // Adds a replicated stage of this worker. From now on its gradients are collected in buckets
  // instead of the parameters' `grad`. `stage` outlives this.
  void add(StageId id, Stage& stage);
  [[nodiscard]] bool has(StageId id) const { return buckets_.contains(id); }

  // Announces that the worker's next backward completes the gradients of `reduce`: while it runs,
  // each bucket is all-reduced as soon as it is complete.
  void expect(const schedule::Reduce& reduce);
  // Starts the all-reduce of all buckets that expect() has not started, and does not wait.
  // Gradients that are not defined count as zero.
  void start(const schedule::Reduce& reduce);
  // How a wait() passed.
  struct Waited {
    Nanos others{0};            // time waited for other replicas to begin the all-reduce
    Nanos transfer{0};          // the rest of the time waited: gradients were in transit
    transport::Deadline began;  // when the first bucket's sum began
    transport::Deadline ended;  // when the last bucket's sum ended
  };
  // Waits until the all-reduce for `await` is done. Throws WorkerLost after `patience`.
  Waited wait(const schedule::Await& await);
  // The summed gradients, one per parameter. Requires wait(); valid until used_up().
  [[nodiscard]] const model::Tensors& gradients(StageId stage, WeightVersion update) const {
    return rounds_.at({stage, update}).buckets.views;
  }
  // The update has been applied: the memory of its gradients may be used again.
  void used_up(StageId stage, WeightVersion update);

  // This worker fails for `reason`: aborts the all-reduces under way, here and at other replicas.
  void abort(const std::string& reason) noexcept {
    if (reducer_) reducer_->abort(reason);
  }

  // Bytes that this worker sent in all-reduces that were waited for.
  [[nodiscard]] Bytes sent() const { return sent_; }

 private:
  // The all-reduce of one stage's gradients for one update.
  struct Round {
    Buckets buckets;                      // set by start()
    model::Tensors summed;                // by bucket: the bucket itself, or its copy on the host
    std::vector<transport::Ticket> sums;  // by bucket
  };
  // Opens a round: complete buckets are passed to `reducer_` from now on.
  void begin(const schedule::Reduce& reduce);
  // The memory in which a bucket is summed.
  struct Summand {
    at::Tensor floats;
    transport::Readiness is_there;  // whether the bucket's content has arrived there
  };
  [[nodiscard]] Summand summand_of(const at::Tensor& flat) const;

  transport::Transport& channel_;
  transport::Sum device_sums_;
  const schedule::Routes& routes_;
  AveragingOptions averaging_;
  const HostCopies& copies_;
  std::chrono::milliseconds patience_;
  std::map<StageId, std::unique_ptr<GradientBuckets>> buckets_;
  std::map<std::pair<StageId, WeightVersion>, Round> rounds_;  // by stage and update
  Bytes sent_;
  std::unique_ptr<transport::Reducer> reducer_;  // null until the first add()
};

}  // namespace pipedream::runtime
