// The layers of one stage as real computation: forward and backward of one item at a time.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "model/network.h"
#include "plan/plan.h"
#include "runtime/weight_store.h"
#include "schedule/ops.h"

namespace pipedream::runtime {

using Values = std::map<ValueId, at::Tensor>;

// Owned and used by one worker. Holds, for every item between its forward and its backward, what
// autograd needs, and nothing for any other.
class Stage {
 public:
  // Throws CannotMeet for a plan in which two other stages use one of its values.
  Stage(const model::Network& network, const plan::Plan& plan, StageId id, std::uint64_t seed,
        at::Device device);

  // Values from other stages that forward() takes, and those it makes for others.
  [[nodiscard]] const std::vector<ValueId>& taken() const { return taken_; }
  [[nodiscard]] const std::vector<ValueId>& given() const { return given_; }
  // Values of the data set that its layers use.
  [[nodiscard]] const std::vector<ValueId>& loaded() const { return loaded_; }
  [[nodiscard]] bool computes_loss() const { return computes_loss_; }

  // Runs the layers with that weight version. `inputs` has taken() and loaded(); the result has
  // given(), and the loss where this stage computes it.
  [[nodiscard]] Values forward(const schedule::Item& item, WeightVersion weights,
                               const Values& inputs);

  // Runs autograd back through the item's forward, with that weight version. `gradients` has
  // given(); the result has taken(). The gradients of parameters are added up in the parameters.
  [[nodiscard]] Values backward(const schedule::Item& item, WeightVersion weights,
                                const Values& gradients);

  [[nodiscard]] WeightStore& weights() { return *weights_; }
  [[nodiscard]] std::size_t peak_items() const { return peak_items_; }

 private:
  struct InFlight {
    Values inputs;   // leaves of autograd
    Values outputs;  // with their graphs
  };

  const model::Network& network_;
  std::uint64_t seed_;
  std::vector<LayerId> order_;
  std::vector<std::unique_ptr<model::Layer>> layers_;
  std::unique_ptr<WeightStore> weights_;
  std::vector<ValueId> taken_;
  std::vector<ValueId> given_;
  std::vector<ValueId> loaded_;
  bool computes_loss_ = false;
  std::map<schedule::Item, InFlight> in_flight_;
  std::size_t peak_items_ = 0;
};

}  // namespace pipedream::runtime
