// The computation of one stage: runs its layers forward and backward for one item at a time.
// docs/runtime.md says which weights are used and in which order gradients are summed.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <torch/csrc/autograd/function.h>

#include "model/network.h"
#include "model/precision.h"
#include "plan/plan.h"
#include "runtime/gradient_buckets.h"
#include "runtime/gradient_order.h"
#include "runtime/score.h"
#include "runtime/weight_store.h"
#include "schedule/ops.h"
#include "schedule/routes.h"

namespace pipedream::runtime {

using Values = std::map<ValueId, at::Tensor>;
// Gradients of values that a stage made for others. The key is the value and the stage that used it
// and computed this gradient.
using Gradients = std::map<std::pair<ValueId, StageId>, at::Tensor>;

struct StageOptions {
  std::uint64_t seed = 0;  // of initial weights and dropout
  at::Device device{at::kCPU};
  // Distinguishes the random numbers of replicas that share items. 0 where replicas take items in
  // turn.
  int replica = 0;
  model::Precision precision = model::Precision::kFloat;
};

// The layers of one stage and their weights, on one worker, which owns it and uses it from its
// thread alone.
//  1. An item is in flight from forward() until the end of its backward(). The stage keeps what
//     autograd needs for items in flight, and nothing for any other item.
//  2. A stage that recomputes keeps only the inputs of an item between forward() and recompute().
class Stage {
 public:
  // Builds the layers with their initial weights. Keeps references to `network` and `order`.
  Stage(const model::Network& network, const schedule::Routes& routes, const GradientOrder& order,
        StageId id, const StageOptions& options);

  // Must be called before each schedule; requires that no item is in flight. `first` is the number
  // of the schedule's minibatch 0 in the whole training, which random numbers depend on.
  void begin(const schedule::Rules& rules, std::int64_t first);

  // The values of other stages that forward() needs.
  [[nodiscard]] const std::vector<ValueId>& taken() const { return taken_; }
  // The inputs from the data set that forward() needs.
  [[nodiscard]] const std::vector<model::InputSpec>& loaded() const { return loaded_; }
  [[nodiscard]] bool computes_loss() const { return computes_loss_; }

  // Runs the layers on `item` with weight version `weights`. `inputs` has the values of taken() and
  // of loaded(). Returns the values that other stages use and, if this stage computes it, the loss.
  [[nodiscard]] Values forward(const schedule::Item& item, WeightVersion weights,
                               const Values& inputs);
  // Runs the forward of an item again, with the same random numbers, to get what backward() needs.
  // For stages that recompute, once between forward() and backward().
  void recompute(const schedule::Item& item, WeightVersion weights);
  // Runs the layers on `item` in evaluation mode with the newest weights, and keeps nothing for a
  // backward. Returns what forward() returns. If this stage computes the loss, adds the result of
  // the item's `samples` to `score`.
  [[nodiscard]] Values evaluate(const schedule::Item& item, std::int64_t samples,
                                const Values& inputs, Score& score);

  // Runs autograd back through the item's forward, with the weight version that `op` names.
  // `gradients` has one entry for each value and later stage that used it. If this stage computes
  // the loss, its gradient is `loss_weight` instead of 1. Returns the gradients of taken(), and
  // accumulates the gradients of the layers' parameters in the parameters' `grad`, where a
  // GradientBuckets may collect them. The input part of a split backward computes only the
  // gradients of taken(). The weight part computes only those of the parameters, ignores
  // `gradients` and returns nothing.
  [[nodiscard]] Values backward(const schedule::Backward& op, const Gradients& gradients,
                                double loss_weight);

  [[nodiscard]] WeightStore& weights() { return *weights_; }
  // Which buckets the gradients of the stage's parameters go into.
  [[nodiscard]] BucketLayout bucket_layout(const BucketSizes& sizes) const;
  // The names of the parameters, in the order of weights().
  [[nodiscard]] std::vector<std::string> parameter_names() const;
  // The layers' state that takes no gradients, such as running averages, by name.
  [[nodiscard]] std::map<std::string, at::Tensor> buffers() const;
  // The layers' copies of other layers' buffers (LayerSpec::copies), with the buffers' names.
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> copies() const;
  [[nodiscard]] const std::vector<LayerId>& layers() const { return order_; }
  // The largest number of items that were in flight at once.
  [[nodiscard]] std::size_t peak_items() const { return peak_items_; }

 private:
  // A value and a counter. Most values have one name, with the counter 0. A value whose gradient
  // terms must be kept apart (gradient_order.h) has one name per term: tensors of equal content,
  // each with a gradient of its own.
  using Name = std::pair<ValueId, std::size_t>;
  using Names = std::map<Name, at::Tensor>;
  struct Mode {
    bool training = true;
    bool update_statistics = true;
    bool will_be_repeated = false;
  };
  // What the stage keeps of an item in flight.
  struct InFlight {
    Values inputs;  // only in a stage that recomputes, from forward() to recompute()
    Names leaves;   // autograd leaves that hold the values of taken()
    // Where the backward starts: autograd's edges of the values that other stages use, and of the
    // loss. The tensors themselves need not stay alive.
    std::map<Name, torch::autograd::Edge> ends;
    // What the backward starts with: the ends that got a gradient, and these gradients. They stay
    // from the input part of a split backward to its weight part.
    torch::autograd::edge_list roots;
    model::Tensors root_gradients;
  };

  // Fills the members that say what each layer reads and what the stage takes and gives.
  void wire(const schedule::Routes& routes);
  // The name by which `layer` reads `value`: the one of the gradient term that the layer's gradient
  // belongs to.
  [[nodiscard]] Name name_for(ValueId value, LayerId layer) const;
  // Adds `inputs` to `names`. Values of taken() become autograd leaves, which `kept` gets too.
  void add_leaves(const Values& inputs, Names& names, InFlight& kept) const;
  // Runs all layers. Adds the values that they make to `names`, and removes each value after its
  // last use.
  void run_layers(const schedule::Item& item, Mode mode, Names& names);
  // The number of names of a value that this stage makes.
  [[nodiscard]] std::size_t names_of(ValueId value) const;
  // Adds a value that this stage made to `names`, under all its names.
  void add_names(ValueId value, const at::Tensor& tensor, Names& names) const;
  void keep_ends(const Names& names, InFlight& kept) const;
  // What forward() returns.
  [[nodiscard]] Values made_of(const Names& names) const;
  // Fills `roots` and `root_gradients` of `kept`.
  void find_roots(const Gradients& gradients, double loss_weight, InFlight& kept) const;
  // The gradient of a value of taken() after the backward. If this stage has several terms of its
  // sum, they are stacked along a new dimension 0.
  [[nodiscard]] at::Tensor gradient_of(ValueId taken, const InFlight& kept) const;

  const model::Network& network_;
  StageId id_;
  StageOptions options_;
  bool recomputes_;  // whether the plan has this stage recompute its activations
  const GradientOrder& order_of_sums_;
  std::vector<LayerId> order_;                         // the stage's layers, producers first
  std::vector<std::unique_ptr<model::Layer>> layers_;  // parallel to `order_`
  std::vector<std::vector<Name>> wires_;  // parallel to `order_`: the names of a layer's inputs
  // Entry i has the names whose last use is by layer i of `order_`: run_layers() drops them then.
  // One entry more, the last, has the names that are needed until all layers have run.
  std::vector<std::vector<Name>> last_users_;
  std::unique_ptr<WeightStore> weights_;
  std::vector<ValueId> taken_;
  std::vector<ValueId> given_;  // values for other stages; each once, however many use it
  std::vector<model::InputSpec> loaded_;
  bool computes_loss_ = false;
  std::int64_t first_ = 0;  // `first` of the last begin()
  std::map<schedule::Item, InFlight> in_flight_;
  std::size_t peak_items_ = 0;
};

}  // namespace pipedream::runtime
