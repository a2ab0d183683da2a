// In which order the gradients of a value that several layers use are added up. Floating-point sums
// depend on it, and training must give the same bits however the layers are spread over stages
// (docs/runtime.md: sums).
#pragma once

#include <vector>

#include "graph/graph.h"

namespace pipedream::runtime {

// The rule: the users' gradients are summed from the last layer of graph.order() to the first, as
// autograd does when the whole network runs in one piece. Layers of one stage
// with which this sum begins are summed there; every other gradient is handed over by itself.
class GradientOrder {
 public:
  // stage_of as of plan::stage_of_each_layer.
  GradientOrder(const graph::Graph& graph, const std::vector<StageId>& stage_of);

  // One term of the sum, from a layer or from several of one stage that are summed there.
  struct Term {
    StageId stage;
    std::vector<LayerId> layers;  // the last of graph.order() first
  };
  // The terms in the order of summing.
  [[nodiscard]] const std::vector<Term>& terms(ValueId value) const {
    return terms_[value.index()];
  }
  // How many of them come from that stage.
  [[nodiscard]] std::size_t terms_from(ValueId value, StageId stage) const;
  // Whether a term of another stage comes after one of the producer's own: then autograd, which
  // begins with what it is given, would sum in another order.
  [[nodiscard]] bool is_mixed(ValueId value) const { return mixed_[value.index()]; }

 private:
  std::vector<std::vector<Term>> terms_;  // by value
  std::vector<bool> mixed_;
};

}  // namespace pipedream::runtime
