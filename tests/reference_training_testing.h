// Plain training of any network on one thread. The results of the runtime are compared with it, bit
// for bit. It knows no schedules, workers or messages. It only knows which weight version of a
// stage a minibatch uses, and which replicas compute which part of it (docs/systems.md). It keeps
// all weight versions. Only *_test.cpp files include this.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/check.h"
#include "core/even_part.h"
#include "model/network.h"
#include "model/threads.h"
#include "plan/plan.h"
#include "runtime/feed.h"
#include "runtime/gradient_order.h"
#include "runtime/results.h"
#include "runtime/score.h"
#include "schedule/schedule.h"
#include "transport/all_reduce_testing.h"

namespace pipedream::test {

// SGD with momentum, computed as torch::optim::SGD does.
inline constexpr double kRate = 0.05;
inline constexpr double kMomentum = 0.9;

[[nodiscard]] inline at::Tensor sgd_step(const at::Tensor& weights, const at::Tensor& gradient,
                                         at::Tensor& velocity, double rate = 1) {
  velocity = velocity.defined() ? velocity * kMomentum + gradient : gradient.clone();
  return weights.add(velocity, -kRate * rate);
}

// As runtime::Job::rate.
using Rate = std::function<double(std::int64_t samples, std::int64_t minibatches)>;

// Returns the weight version that `stage` uses for `minibatch`, that is, the number of updates of
// the stage. A negative number means version 0.
using Rule = std::function<std::int64_t(std::size_t stage, std::int64_t minibatch)>;

// The rule of systems that flush: every minibatch uses the newest weights.
[[nodiscard]] inline Rule newest_weights() {
  return [](std::size_t, std::int64_t t) { return t; };
}
// The rule of weight stashing on a straight pipeline of `n` stages.
[[nodiscard]] inline Rule weight_stashing(std::int64_t n) {
  return [n](std::size_t s, std::int64_t t) { return t - (n - 1 - static_cast<std::int64_t>(s)); };
}
[[nodiscard]] inline Rule vertical_sync(std::int64_t n) {
  return [n](std::size_t, std::int64_t t) { return t - n + 1; };
}
// The rule of 2bw with `width` replicas of every stage.
[[nodiscard]] inline Rule one_update_behind(std::int64_t width = 1) {
  return [width](std::size_t, std::int64_t t) { return t / width - 1; };
}
// The rule of 1F1B with round-robin replicas (1F1B-RR). With replicas, the update of a round may
// become visible only `depth` rounds later, because averaging takes time.
[[nodiscard]] inline Rule round_robin(const plan::Plan& plan) {
  return [plan](std::size_t s, std::int64_t t) {
    const auto r = static_cast<std::int64_t>(plan.stages[s].workers.size());
    return r == 1 ? t - plan.stages[s].depth + 1 : t / r - plan.stages[s].depth;
  };
}

class Reference {
 public:
  // Uses only the layers and the number of replicas of each stage of `plan`, and the number of
  // rounds in an update. If `together` is true,
  // the replicas share every item; otherwise they take minibatches in turn.
  Reference(const model::Network& network, const plan::Plan& plan, std::uint64_t seed,
            bool together = false, const runtime::AveragingOptions& averaging = {},
            at::Device device = at::kCPU)
      : network_(network),
        plan_(plan),
        seed_(seed),
        together_(together),
        averaging_(averaging),
        device_(device),
        order_(network.graph, plan::stage_of_each_layer(plan, network.graph)) {
    model::use_threads(1);
    layers_.resize(network.graph.layers().size());
    stage_of_.resize(layers_.size());
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      Weights& weights = stages_.emplace_back();
      weights.parameters.resize(plan.stages[s].workers.size());
      for (model::Tensors& parameters : weights.parameters)
        for (const LayerId layer : plan.stages[s].layers) {
          layers_[layer.index()].push_back(model::make_layer(network, layer, seed, device));
          stage_of_[layer.index()] = s;
          for (const at::Tensor& each : layers_[layer.index()].back()->parameters())
            parameters.push_back(each);
        }
      weights.history.emplace_back();
      for (const at::Tensor& each : weights.parameters[0])
        weights.history[0].push_back(each.detach().clone());
      weights.velocities.resize(weights.history[0].size());
    }
  }

  // Trains on all minibatches of `extent`. The newest weights count as version 0 of `rule`. `first`
  // is the number of the first minibatch in the whole training. If `most` is set, gradients are
  // clipped to that norm over all stages together. `rate`: Job::rate.
  void train(
      const runtime::Feed& feed, const schedule::Extent& extent, const Rule& rule,
      std::int64_t first = 0, std::optional<double> most = {},
      const Rate& rate = [](std::int64_t, std::int64_t) { return 1.0; }) {
    for (Weights& weights : stages_) weights.history = {weights.history.back()};
    for (std::int64_t t = 0; t < extent.minibatches; ++t) {
      for (std::size_t s = 0; s < stages_.size(); ++s) use_version(s, rule(s, t));
      double loss = 0;
      for (int m = 0; m < extent.microbatches_of(t); ++m) loss += train_item(feed, {t, m}, first);
      losses_[first + t] = loss;
      finish_minibatch(t, feed, extent.minibatches, most, [&](std::int64_t count) {
        return rate(feed.samples_before(t + 1 - count), count);
      });
    }
  }

  // Evaluates the newest weights without training.
  [[nodiscard]] runtime::Score evaluate(const runtime::Feed& feed, const schedule::Extent& extent) {
    const at::NoGradGuard no_grad;
    for (std::size_t s = 0; s < stages_.size(); ++s)
      use_version(s, static_cast<std::int64_t>(stages_[s].history.size()) - 1);
    runtime::Score score;
    const auto& loss_inputs =
        network_.graph.layer(network_.graph.value(network_.loss).producer).inputs;
    for (std::int64_t t = 0; t < extent.minibatches; ++t)
      for (int m = 0; m < extent.microbatches_of(t); ++m) {
        Values values = forward(feed, {t, m}, 0, /*training=*/false);
        for (const Piece& loss : values.at(network_.loss)) {
          const auto samples = static_cast<double>(loss.range.count);
          score.loss += loss.tensor.item<double>() * samples;
          score.samples += loss.range.count;
          const at::Tensor logits = part_of(loss_inputs[0], loss.range, feed, {t, m}, values);
          const at::Tensor labels = part_of(loss_inputs[1], loss.range, feed, {t, m}, values);
          score.right += logits.argmax(-1).eq(labels).sum().item<std::int64_t>();
          score.predictions += labels.numel();
        }
      }
    return score;
  }

  // The newest weights, and the buffers of each stage's first replica.
  [[nodiscard]] runtime::Weights weights() const {
    runtime::Weights named;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      std::size_t next = 0;
      for (const LayerId layer : plan_.stages[s].layers) {
        for (const model::TensorSpec& spec : network_.spec(layer).parameters)
          named.parameters[spec.name] = stages_[s].history.back()[next++].cpu();
        const auto& specs = network_.spec(layer).buffers;
        for (std::size_t b = 0; b < specs.size(); ++b)
          named.buffers[specs[b].name] = layers_[layer.index()][0]->buffers()[b].cpu();
      }
    }
    return named;
  }
  [[nodiscard]] const std::map<std::int64_t, double>& losses() const { return losses_; }

 private:
  struct Weights {                           // the weights of one stage
    std::vector<model::Tensors> parameters;  // by replica: the leaf tensors of its layers
    std::vector<model::Tensors> history;     // by weight version
    model::Tensors velocities;
  };
  struct Piece {  // a value for some samples of an item
    Range range;
    at::Tensor tensor;
  };
  using Values = std::map<ValueId, std::vector<Piece>>;
  struct NameKey {  // identifies an alias of tied weights that tied_part() has made
    ValueId value;
    std::int64_t maker;  // first sample of the replica that has the weights
    std::ptrdiff_t term;
    std::int64_t user;  // first sample of the replica that uses them; −1: all such replicas
    friend auto operator<=>(const NameKey&, const NameKey&) = default;
  };

  [[nodiscard]] std::int64_t replicas(std::size_t stage) const {
    return static_cast<std::int64_t>(plan_.stages[stage].workers.size());
  }

  void use_version(std::size_t stage, std::int64_t version) {
    const at::NoGradGuard no_grad;
    Weights& weights = stages_[stage];
    const auto& used =
        weights.history.at(static_cast<std::size_t>(std::max<std::int64_t>(0, version)));
    for (model::Tensors& parameters : weights.parameters)
      for (std::size_t i = 0; i < used.size(); ++i) parameters[i].copy_(used[i]);
  }

  // The samples of the item that each replica of the stage computes, by replica. Replicas without
  // samples are left out.
  [[nodiscard]] std::map<std::int64_t, Range> shares(std::size_t stage, const schedule::Item& item,
                                                     std::int64_t samples) const {
    const std::int64_t r = replicas(stage);
    if (!together_) return {{item.minibatch % r, {0, samples}}};
    std::map<std::int64_t, Range> found;
    for (std::int64_t i = 0; i < r; ++i) {
      const Range range{samples * i / r, samples * (i + 1) / r - samples * i / r};
      if (range.count > 0) found[i] = range;
    }
    return found;
  }

  [[nodiscard]] at::Tensor part_of(ValueId value, const Range& range, const runtime::Feed& feed,
                                   const schedule::Item& item, const Values& values) const {
    for (const model::InputSpec& input : network_.inputs)
      if (network_.graph.layer(input.layer).outputs[0] == value)
        return feed.load(input, item, range.first, range.count).to(device_);
    at::Tensor whole;
    for (const Piece& piece : values.at(value)) {
      if (piece.range == range) return piece.tensor;
      whole = whole.defined() ? at::cat({whole, piece.tensor}) : piece.tensor;
    }
    return whole.slice(0, range.first, range.first + range.count);
  }

  // The tied weights `value` as the layer `user` of another stage gets them for the samples
  // `range`. They come from the first replica of the owning stage that has some of these samples.
  // They pass through aliases: one per term of the sum of gradients, and behind it one per replica
  // that uses the term. So autograd sums each term over the replicas before it sums the terms.
  [[nodiscard]] at::Tensor tied_part(ValueId value, LayerId user, const Range& range,
                                     const Values& values) {
    for (const Piece& piece : values.at(value)) {
      if (piece.range == range) return piece.tensor;
      if (piece.range.first + piece.range.count <= range.first) continue;
      const auto& terms = order_.terms(value);
      const auto term = std::find_if(terms.begin(), terms.end(), [&](const auto& each) {
        return std::find(each.layers.begin(), each.layers.end(), user) != each.layers.end();
      });
      const NameKey key{value, piece.range.first, term - terms.begin(), -1};
      return name(name(piece.tensor, key), {value, piece.range.first, key.term, range.first});
    }
    PD_CHECK(false && "no replica has these samples");
    return {};
  }
  [[nodiscard]] at::Tensor name(const at::Tensor& tensor, const NameKey& key) {
    at::Tensor& named = names_[key];
    if (!named.defined()) named = tensor.alias();
    return named;
  }

  [[nodiscard]] Values forward(const runtime::Feed& feed, const schedule::Item& item,
                               std::int64_t first, bool training) {
    constexpr std::int64_t kReplicaStride = 1 << 20;  // between the random streams of replicas
    Values values;
    names_.clear();
    for (const LayerId id : network_.graph.order()) {
      const graph::Layer& layer = network_.graph.layer(id);
      if (layer.is_input) continue;
      for (const auto& [replica, range] : shares(stage_of_[id.index()], item, feed.samples(item))) {
        model::Tensors in;
        for (const ValueId input : layer.inputs)
          in.push_back(network_.graph.value(input).is_weight
                           ? tied_part(input, id, range, values)
                           : part_of(input, range, feed, item, values));
        const std::int64_t stream = item.microbatch + (together_ ? replica * kReplicaStride : 0);
        const model::Pass pass{.training = training,
                               .random = {.seed = seed_,
                                          .layer = id.value,
                                          .minibatch = first + item.minibatch,
                                          .microbatch = static_cast<std::int32_t>(stream)}};
        const auto out = layers_[id.index()][static_cast<std::size_t>(replica)]->forward(in, pass);
        for (std::size_t o = 0; o < out.size(); ++o)
          values[layer.outputs[o]].push_back({range, out[o]});
      }
    }
    return values;
  }

  // Runs forward and backward of one item and adds to the gradients. Returns the part of the
  // minibatch's loss that the item contributes.
  double train_item(const runtime::Feed& feed, const schedule::Item& item, std::int64_t first) {
    const Values values = forward(feed, item, first, /*training=*/true);
    const auto whole = static_cast<double>(feed.minibatch_samples(item.minibatch));
    const auto unit = plan_.accumulate > 1 ? static_cast<double>(feed.minibatch_samples(0)) : whole;
    torch::autograd::variable_list losses;
    torch::autograd::variable_list weights;
    double sum = 0;
    for (const Piece& loss : values.at(network_.loss)) {
      const auto samples = static_cast<double>(loss.range.count);
      losses.push_back(loss.tensor);
      weights.push_back(at::full({}, samples / unit, device_));
      sum += loss.tensor.item<double>() * (samples / whole);
    }
    torch::autograd::backward(losses, weights);
    return sum;
  }

  // The gradients that the stage's update uses, one per parameter: the sum over all replicas and
  // minibatches of the update, divided by `divisor`.
  [[nodiscard]] model::Tensors gradients_of(std::size_t stage, double divisor) const {
    const auto& parameters = stages_[stage].parameters;
    model::Tensors gradients;
    if (parameters.size() == 1) {
      for (const at::Tensor& each : parameters[0]) gradients.push_back(each.grad());
    } else {
      gradients.resize(parameters[0].size());
      for (const std::vector<std::size_t>& bucket : buckets_of(stage))
        add_sums(stage, bucket, gradients);
    }
    if (divisor != 1)
      for (at::Tensor& gradient : gradients)
        if (gradient.defined()) gradient = gradient / divisor;
    return gradients;
  }

  // What the gradients of the minibatches `first` … `last` are divided by: without accumulation
  // their number, and with it their samples, counted in those of the first minibatch.
  [[nodiscard]] double divisor(const runtime::Feed& feed, std::int64_t first,
                               std::int64_t last) const {
    if (plan_.accumulate == 1) return static_cast<double>(last - first + 1);
    std::int64_t samples = 0;
    for (std::int64_t t = first; t <= last; ++t) samples += feed.minibatch_samples(t);
    return static_cast<double>(samples) / static_cast<double>(feed.minibatch_samples(0));
  }

  // The parameters that are averaged together, by bucket, in the order of summation. A bucket takes
  // whole layers, from the last to the first, until it is full (core/buckets.h).
  [[nodiscard]] std::vector<std::vector<std::size_t>> buckets_of(std::size_t stage) const {
    const auto& layers = plan_.stages[stage].layers;
    std::vector<std::vector<std::size_t>> buckets;
    std::size_t next = stages_[stage].parameters[0].size();
    std::int64_t open = -1;  // bytes in the last bucket; −1 if no bucket is open
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
      const std::size_t count = network_.spec(*layer).parameters.size();
      if (count == 0) continue;
      if (open < 0) {
        buckets.emplace_back();
        open = 0;
      }
      for (std::size_t i = 0; i < count; ++i) {
        buckets.back().push_back(--next);
        open += static_cast<std::int64_t>(stages_[stage].parameters[0][next].nbytes());
      }
      const BucketSizes& sizes = averaging_.buckets;
      if (Bytes{open} >= (buckets.size() == 1 ? sizes.first : sizes.others)) open = -1;
    }
    return buckets;
  }

  // Sums the gradients of one bucket over the replicas and writes them to `gradients`.
  void add_sums(std::size_t stage, const std::vector<std::size_t>& bucket,
                model::Tensors& gradients) const {
    const auto& parameters = stages_[stage].parameters;
    std::vector<std::vector<float>> flat(parameters.size());
    for (std::size_t r = 0; r < parameters.size(); ++r)
      for (const std::size_t p : bucket) {
        const at::Tensor& each = parameters[r][p];
        const at::Tensor gradient =
            (each.grad().defined() ? each.grad() : at::zeros_like(each)).cpu().contiguous();
        const auto* begin = gradient.const_data_ptr<float>();
        flat[r].insert(flat[r].end(), begin, begin + gradient.numel());
      }
    const std::vector<float> sums =
        transport::ordered_sum(flat, plan_.stages[stage].workers, averaging_.way);
    std::size_t next = 0;
    for (const std::size_t p : bucket) {
      gradients[p] = at::zeros_like(parameters[0][p].detach(), at::kCPU);
      const auto count = static_cast<std::size_t>(gradients[p].numel());
      std::copy_n(sums.begin() + static_cast<std::ptrdiff_t>(next), count,
                  gradients[p].data_ptr<float>());
      gradients[p] = gradients[p].to(device_);
      next += count;
    }
  }

  // Updates the stages of which minibatch `t` ends an update. `rate` returns the
  // factor on the learning rate of an update with so many minibatches.
  void finish_minibatch(std::int64_t t, const runtime::Feed& feed, std::int64_t minibatches,
                        std::optional<double> most,
                        const std::function<double(std::int64_t)>& rate) {
    const at::NoGradGuard no_grad;
    std::map<std::size_t, model::Tensors> gradients;
    std::map<std::size_t, double> rates;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      const std::int64_t each = (together_ ? 1 : replicas(s)) * plan_.accumulate;
      if ((t + 1) % each != 0 && t + 1 != minibatches) continue;
      gradients[s] = gradients_of(s, divisor(feed, t - t % each, t));
      rates[s] = rate(t % each + 1);
    }
    if (most) clip(gradients, *most);
    for (auto& [s, of_stage] : gradients) {
      Weights& weights = stages_[s];
      model::Tensors next;
      for (std::size_t i = 0; i < of_stage.size(); ++i)
        next.push_back(of_stage[i].defined() ? sgd_step(weights.history.back()[i], of_stage[i],
                                                        weights.velocities[i], rates[s])
                                             : weights.history.back()[i]);
      weights.history.push_back(std::move(next));
      for (model::Tensors& parameters : weights.parameters)
        for (at::Tensor& each : parameters) each.mutable_grad().reset();
    }
  }

  // Clips as torch's clip_grad_norm_ does. Squares are summed per layer, then over the layers in
  // the order of their ids.
  void clip(std::map<std::size_t, model::Tensors>& gradients, double most) const {
    std::map<LayerId, double> squares;
    for (auto& [s, of_stage] : gradients) {
      std::size_t next = 0;
      for (const LayerId layer : plan_.stages[s].layers)
        for (std::size_t i = 0; i < network_.spec(layer).parameters.size(); ++i) {
          const at::Tensor& gradient = of_stage[next++];
          if (!gradient.defined()) continue;
          const auto norm = gradient.norm(2, at::kDouble).item<double>();
          squares[layer] += norm * norm;
        }
    }
    double sum = 0;
    for (const auto& [layer, square] : squares) sum += square;
    const double factor = most / (std::sqrt(sum) + 1e-6);
    if (factor >= 1) return;
    for (auto& [s, of_stage] : gradients)
      for (at::Tensor& gradient : of_stage)
        if (gradient.defined()) gradient = gradient * factor;
  }

  const model::Network& network_;
  plan::Plan plan_;
  std::uint64_t seed_;
  bool together_;
  runtime::AveragingOptions averaging_;
  at::Device device_;
  runtime::GradientOrder order_;
  std::vector<std::vector<std::unique_ptr<model::Layer>>> layers_;  // by layer and replica
  std::vector<std::size_t> stage_of_;                               // by layer
  std::vector<Weights> stages_;
  std::map<NameKey, at::Tensor> names_;
  std::map<std::int64_t, double> losses_;
};

}  // namespace pipedream::test
