// The layers of one stage as real computation: forward and backward of one item at a time.
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
// Gradients of values that this stage made, by the stage that used them.
using Gradients = std::map<std::pair<ValueId, StageId>, at::Tensor>;

struct StageOptions {
  std::uint64_t seed = 0;
  at::Device device{at::kCPU};
  int replica = 0;
  model::Precision precision = model::Precision::kFloat;
};

// Owned and used by one worker. Holds, for every item between its forward and its backward, what
// autograd needs, and nothing for any other.
class Stage {
 public:
  // Keeps references to the network and the order.
  Stage(const model::Network& network, const schedule::Routes& routes, const GradientOrder& order,
        StageId id, const StageOptions& options);

  // Before a schedule is run. Minibatch 0 of the schedule is number `first` of the whole training:
  // that is what random numbers go by.
  void begin(const schedule::Rules& rules, std::int64_t first);

  // Values of other stages that forward() takes, and those of the data set.
  [[nodiscard]] const std::vector<ValueId>& taken() const { return taken_; }
  [[nodiscard]] const std::vector<model::InputSpec>& loaded() const { return loaded_; }
  [[nodiscard]] bool computes_loss() const { return computes_loss_; }

  // Runs the layers with that weight version. `inputs` has taken() and what is loaded; the result
  // has what other stages use, and the loss where this stage computes it. A stage that recomputes
  // keeps its inputs alone.
  [[nodiscard]] Values forward(const schedule::Item& item, WeightVersion weights,
                               const Values& inputs);
  // Runs the forward again, with the same random numbers, for what backward() needs.
  void recompute(const schedule::Item& item, WeightVersion weights);
  // Forward in evaluation, with the weights as they are; keeps nothing. `score` gets how well the
  // `samples` of the item did, where this stage computes the loss.
  [[nodiscard]] Values evaluate(const schedule::Item& item, std::int64_t samples,
                                const Values& inputs, Score& score);

  // Runs autograd back through the item's forward, with that weight version. The loss counts
  // `loss_weight` times. The result has taken(); gradients of parameters are added up in the
  // weight store. The weight part of a split backward takes and gives nothing.
  [[nodiscard]] Values backward(const schedule::Backward& op, const Gradients& gradients,
                                double loss_weight);

  [[nodiscard]] WeightStore& weights() { return *weights_; }
  // How its gradients are cut into buckets.
  [[nodiscard]] BucketLayout bucket_layout(const BucketSizes& sizes) const;
  // The layers' state without gradients by name.
  [[nodiscard]] std::map<std::string, at::Tensor> buffers() const;
  [[nodiscard]] const std::vector<LayerId>& layers() const { return order_; }
  [[nodiscard]] std::size_t peak_items() const { return peak_items_; }

 private:
  // A value, or one of the names of one whose uses' gradients are to come in apart.
  using Name = std::pair<ValueId, std::size_t>;
  using Names = std::map<Name, at::Tensor>;
  struct Mode {
    bool training = true;
    bool update_statistics = true;
  };
  struct InFlight {
    Values inputs;                               // only until it is recomputed
    Names leaves;                                // of autograd: the values taken
    std::map<Name, torch::autograd::Edge> ends;  // of autograd: what others use, and the loss
    // Between the two parts of a split backward.
    torch::autograd::edge_list roots;
    model::Tensors root_gradients;
  };

  void wire(const schedule::Routes& routes);
  // Which of a value's names a layer reads: that of the term of the sum its gradient goes into.
  [[nodiscard]] Name name_for(ValueId value, LayerId layer) const;
  void add_leaves(const Values& inputs, Names& names, InFlight& kept) const;
  // Runs all layers; `names` gets what they make and loses what no layer needs any more.
  void run_layers(const schedule::Item& item, Mode mode, Names& names);
  // How many names a value that is made here has.
  [[nodiscard]] std::size_t names_of(ValueId value) const;
  void add_names(ValueId value, const at::Tensor& tensor, Names& names) const;
  void keep_ends(const Names& names, InFlight& kept) const;
  [[nodiscard]] Values made_of(const Names& names) const;
  void find_roots(const Gradients& gradients, double loss_weight, InFlight& kept) const;
  [[nodiscard]] at::Tensor gradient_of(ValueId taken, const InFlight& kept) const;

  const model::Network& network_;
  StageId id_;
  StageOptions options_;
  bool recomputes_;
  const GradientOrder& order_of_sums_;
  std::vector<LayerId> order_;
  std::vector<std::unique_ptr<model::Layer>> layers_;
  std::vector<std::vector<Name>> wires_;       // by layer: the names of its inputs
  std::vector<std::vector<Name>> last_users_;  // by layer: names that nobody needs after it
  std::unique_ptr<WeightStore> weights_;
  std::vector<ValueId> taken_;
  std::vector<ValueId> given_;  // each once
  std::vector<model::InputSpec> loaded_;
  bool computes_loss_ = false;
  std::int64_t first_ = 0;
  std::map<schedule::Item, InFlight> in_flight_;
  std::size_t peak_items_ = 0;
};

}  // namespace pipedream::runtime
