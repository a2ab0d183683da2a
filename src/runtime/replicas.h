// The gradients of replicated stages: averaged among the replicas while compute goes on.
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

// How replicas average.
struct Averaging {
  transport::Way way;
  BucketSizes buckets;
};

// Owned and used by one worker. Buckets are summed one by one, on the host, where those of a device
// go when they are full, in the order of `way` (transport/all_reduce.h). Where there are
// `device_sums`, and a ring is wanted, they are summed where they lie, in these sums' order.
class ReplicaGradients {
 public:
  ReplicaGradients(transport::Transport& channel, transport::Sum device_sums,
                   const schedule::Routes& routes, const Averaging& averaging,
                   const HostCopies& copies, std::chrono::milliseconds patience);

  // A stage of the worker that has replicas, which outlives this.
  void add(StageId id, Stage& stage);
  [[nodiscard]] bool has(StageId id) const { return buckets_.contains(id); }

  // The backward that the worker runs next completes the gradients of that averaging: it begins
  // while the backward runs.
  void expect(const schedule::Reduce& reduce);
  // Begins to sum, over all replicas, what has not begun already. Gradients that are not defined
  // count as zero.
  void start(const schedule::Reduce& reduce);
  // How long a worker waited: for other replicas to begin, and for bytes on their way; and when the
  // averaging really was.
  struct Waited {
    Nanos others{0};
    Nanos transfer{0};
    transport::Deadline began;
    transport::Deadline ended;
  };
  // Waits until that is done.
  Waited wait(const schedule::Await& await);
  // The summed gradients that were waited for, one per parameter, until they are used up.
  [[nodiscard]] const model::Tensors& gradients(StageId stage, WeightVersion update) const {
    return rounds_.at({stage, update}).buckets.views;
  }
  void used_up(StageId stage, WeightVersion update);

  // The worker fails for that reason: tells the other replicas, whose sums will not be finished.
  void abort(const std::string& reason) noexcept {
    if (reducer_) reducer_->abort(reason);
  }

  [[nodiscard]] Bytes sent() const { return sent_; }

 private:
  struct Round {
    Buckets buckets;
    model::Tensors summed;  // by bucket: itself, or its copy on the host
    std::vector<transport::Ticket> sums;
  };
  void begin(const schedule::Reduce& reduce);
  // A bucket where it is summed.
  struct Summand {
    at::Tensor floats;
    transport::Readiness is_there;
  };
  [[nodiscard]] Summand summand_of(const at::Tensor& flat) const;

  transport::Transport& channel_;
  transport::Sum device_sums_;
  const schedule::Routes& routes_;
  Averaging averaging_;
  const HostCopies& copies_;
  std::chrono::milliseconds patience_;
  std::map<StageId, std::unique_ptr<GradientBuckets>> buckets_;
  std::map<std::pair<StageId, WeightVersion>, Round> rounds_;
  Bytes sent_;
  std::unique_ptr<transport::Reducer> reducer_;  // null where no stage has replicas
};

}  // namespace pipedream::runtime
