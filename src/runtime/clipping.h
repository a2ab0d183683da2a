// Gradient clipping by the norm over all stages: what every update of a synchronous system can have
// and one of a pipeline that never flushes cannot.
#pragma once

#include <chrono>
#include <map>
#include <set>

#include "model/layer.h"
#include "model/network.h"
#include "plan/plan.h"
#include "transport/transport.h"

namespace pipedream::runtime {

using LayerNorms = std::map<LayerId, double>;  // squared, of all gradients of a layer

// Adds the layers' norms; `gradients` has one entry per parameter of these layers, in their order.
void add_norms(const model::Network& network, const std::vector<LayerId>& layers,
               const model::Tensors& gradients, LayerNorms& norms);

// Owned and used by one worker. All workers call factor() for the same updates in the same order.
class Clipper {
 public:
  Clipper(double most, const plan::Plan& plan, transport::Transport& control,
          std::chrono::milliseconds patience);

  // What this update's gradients are to be multiplied with, so that the norm of all stages'
  // together is at most `most`. `own` has the layers of all stages of this worker. Each worker
  // tells the others its norms and waits for theirs; the sum goes by layers, so that it is the same
  // on all workers and for any partition. Nobody waits for ever if every stage has its gradients of
  // the update before any waits for the next: a schedule that flushes.
  [[nodiscard]] double factor(const LayerNorms& own);

 private:
  double most_;
  transport::Transport& control_;
  std::chrono::milliseconds patience_;
  std::set<WorkerId> speakers_;   // one worker of each stage, which speaks for it
  std::set<WorkerId> listeners_;  // all others
};

}  // namespace pipedream::runtime
