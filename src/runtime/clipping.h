// Gradient clipping by the global norm, that is, over the gradients of all stages. It needs a
// system that flushes: in a pipeline that never flushes, the gradients of one update are never
// complete on all stages at once (docs/runtime.md: Which weights are used).
#pragma once

#include <chrono>
#include <map>
#include <set>

#include "model/layer.h"
#include "model/network.h"
#include "plan/plan.h"
#include "transport/transport.h"

namespace pipedream::runtime {

// By layer: the squared L2 norm over the gradients of all its parameters.
using SquaredNorms = std::map<LayerId, double>;

// Adds the squared norms of `layers` to `norms`. `gradients` has one entry per parameter of these
// layers, in their order; entries that are not defined count as zero.
void add_norms(const model::Network& network, const std::vector<LayerId>& layers,
               const model::Tensors& gradients, SquaredNorms& norms);

// Finds the factor by which all stages scale the gradients of an update. Owned by one worker and
// used from its thread. All workers call factor() for the same updates in the same order.
class Clipper {
 public:
  // `most` is the largest norm allowed. `control` outlives the clipper.
  Clipper(double most, const plan::Plan& plan, transport::Transport& control,
          std::chrono::milliseconds patience);

  // The factor, at most 1, by which the gradients of this update are to be multiplied so that the
  // norm over all stages is at most `most`. `own` has the layers of all stages of this worker. The
  // first replica of each stage sends its norms to all other workers, and every worker waits for
  // them. Norms are summed in the order of layers, so the factor is the same on all workers and for
  // any partition. Does not deadlock if every stage has its gradients of one update before any
  // stage waits for the next update, as in schedules that flush. Throws WorkerLost after
  // `patience`.
  [[nodiscard]] double factor(const SquaredNorms& own);

 private:
  double most_;
  transport::Transport& control_;
  std::chrono::milliseconds patience_;
  std::set<WorkerId> speakers_;   // the first replica of each stage, which sends the stage's norms
  std::set<WorkerId> listeners_;  // all workers except this one
};

}  // namespace pipedream::runtime
