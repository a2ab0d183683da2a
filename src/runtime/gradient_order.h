// The order in which the gradients of a value that several layers use are summed. Floating-point
// sums depend on their order, and training must give the same bits however the layers are spread
// over stages (docs/runtime.md: Sums).
#pragma once

#include <vector>

#include "graph/graph.h"

namespace pipedream::runtime {

// The rule: the gradients of a value are summed from the last of its consumers in graph.order() to
// the first, as autograd does when one process runs the whole network. A stage may therefore add up
// gradients of its own layers only if the sum begins with them; it hands every other gradient over
// as a term by itself. Immutable, so safe to use from several threads.
//
//   consumers u0 in stage 0, u1 and u2 in stage 1, u3 and u4 in stage 2; the terms in their order:
//   stage 2: u4 + u3,  stage 1: u2,  stage 1: u1,  stage 0: u0
class GradientOrder {
 public:
  // `stage_of` has the stage of each layer, as plan::stage_of_each_layer returns it.
  GradientOrder(const graph::Graph& graph, const std::vector<StageId>& stage_of);

  // One term of a value's gradient: that of one layer, or the sum over several layers of one stage.
  struct Term {
    StageId stage;
    std::vector<LayerId> layers;  // in the order of summation: the last of graph.order() first
  };
  // The terms of the value's gradient, in the order of summation. Values of input layers have none.
  [[nodiscard]] const std::vector<Term>& terms(ValueId value) const {
    return terms_[value.index()];
  }
  // The number of the value's terms that `stage` computes.
  [[nodiscard]] std::size_t terms_from(ValueId value, StageId stage) const;
  // Whether a term of another stage comes after a term of the stage that makes the value. Autograd
  // in that stage would sum in another order, because it starts with the gradients that it is given
  // and adds those of the stage's own layers.
  [[nodiscard]] bool is_mixed(ValueId value) const { return mixed_[value.index()]; }

 private:
  std::vector<std::vector<Term>> terms_;  // by value
  std::vector<bool> mixed_;               // by value
};

}  // namespace pipedream::runtime
