// The gradients of replicated stages: averaged among the replicas while compute goes on.
#pragma once

#include <chrono>
#include <map>
#include <memory>

#include "model/layer.h"
#include "schedule/ops.h"
#include "schedule/routes.h"
#include "transport/collective.h"

namespace pipedream::runtime {

// Owned and used by one worker. At most as many buffers exist as averagings are under way.
class ReplicaGradients {
 public:
  ReplicaGradients(transport::Transport& channel, const schedule::Routes& routes,
                   std::chrono::milliseconds patience);

  // Begins to sum the gradients over all replicas. Those not defined count as zero; `parameters`
  // say their shapes.
  void start(const schedule::Reduce& reduce, const model::Tensors& gradients,
             const model::Tensors& parameters);
  // How long a worker waited: for other replicas to begin, and for bytes on their way.
  struct Waited {
    Nanos others{0};
    Nanos transfer{0};
  };
  // Waits until that is done.
  Waited wait(const schedule::Await& await);
  // The summed gradients that were waited for, one per parameter.
  [[nodiscard]] model::Tensors take(StageId stage, WeightVersion update);

  // The worker fails for that reason: tells the other replicas, whose sums will not be finished.
  void abort(const std::string& reason) noexcept {
    if (reducer_) reducer_->abort(reason);
  }

  [[nodiscard]] Bytes sent() const { return sent_; }

 private:
  struct Round {
    at::Tensor flat;
    model::Tensors views;  // one per parameter
    transport::Ticket ticket;
  };
  const schedule::Routes& routes_;
  std::chrono::milliseconds patience_;
  std::unique_ptr<transport::Reducer> reducer_;  // null where no stage has replicas
  std::map<std::pair<StageId, WeightVersion>, Round> rounds_;
  Bytes sent_;
};

}  // namespace pipedream::runtime
