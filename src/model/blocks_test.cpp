#include "model/blocks.h"

#include <gtest/gtest.h>

#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/error.h"
#include "core/testing.h"
#include "model/conv2d.h"
#include "model/label_smoothing.h"
#include "model/memory_meter.h"
#include "model/padding.h"
#include "model/random.h"
#include "model/whole_model.h"

namespace pipedream::model {
namespace {

struct ConvShape {
  std::int64_t batch, in, side, out, kernel, stride, padding;
};

class Convolution : public testing::TestWithParam<ConvShape> {};

// convolve() has the gradients of at::conv2d, by whichever code they are computed.
TEST_P(Convolution, HasTheGradientsOfLibtorch) {
  const ConvShape s = GetParam();
  at::Tensor x = at::randn({s.batch, s.in, s.side, s.side}).requires_grad_();
  at::Tensor w = at::randn({s.out, s.in, s.kernel, s.kernel}).requires_grad_();
  at::Tensor b = at::randn({s.out}).requires_grad_();
  const at::Tensor ours = convolve(x, w, b, s.stride, s.padding);
  const at::Tensor theirs = at::conv2d(x, w, b, {s.stride, s.stride}, {s.padding, s.padding});
  EXPECT_TRUE(at::equal(ours, theirs));
  const at::Tensor gradient = at::randn(ours.sizes());
  const auto our_grads = torch::autograd::grad({ours}, {x, w, b}, {gradient});
  const auto their_grads = torch::autograd::grad({theirs}, {x, w, b}, {gradient});
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(at::allclose(our_grads[i], their_grads[i], 1e-4,
                             1e-4 * their_grads[i].abs().max().item<double>()))
        << "gradient " << i;
}

// Small images take one matrix product for many samples, large ones a product per sample. The last
// shape is computed in several slices of the batch.
INSTANTIATE_TEST_SUITE_P(
    Shapes, Convolution,
    testing::Values(ConvShape{2, 3, 8, 4, 3, 1, 1}, ConvShape{1, 4, 9, 2, 1, 2, 0},
                    ConvShape{3, 2, 15, 5, 7, 2, 3}, ConvShape{3, 5, 6, 4, 3, 2, 0},
                    ConvShape{2, 3, 16, 4, 3, 1, 1}, ConvShape{30, 512, 11, 8, 3, 1, 1},
                    ConvShape{5, 64, 112, 4, 3, 1, 1}));

TEST(Convolution, WorksWithoutBiasAndWithoutAGradientForItsInput) {
  const at::Tensor x = at::randn({2, 3, 8, 8});
  at::Tensor w = at::randn({4, 3, 3, 3}).requires_grad_();
  convolve(x, w, at::Tensor(), 1, 1).sum().backward();
  EXPECT_EQ(w.grad().sizes(), w.sizes());
}

TEST(Convolution, TakesImagesInAnyLayout) {
  const at::Tensor image = at::randn({3, 4, 16, 16});
  at::Tensor weight = at::randn({5, 4, 3, 3}).set_requires_grad(true);
  const auto gradient = [&](const at::Tensor& x) {
    weight.mutable_grad() = at::Tensor();
    convolve(x, weight, at::Tensor(), 1, 1).square().sum().backward();
    return weight.grad();
  };
  const at::Tensor plain = gradient(image);
  const at::Tensor turned = gradient(image.contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_LE((plain - turned).abs().max().item<float>(), 1e-3);
}

TEST(BatchNorm, DoesNotMoveItsAveragesWhenAForwardIsRunAgain) {
  const Block block = batch_norm2d(3);
  const Tensors parameters{at::ones({3}), at::zeros({3})};
  const Tensors buffers{at::zeros({3}), at::ones({3}), at::zeros({}, at::kLong)};
  const at::Tensor x = at::randn({4, 3, 5, 5}) + 2;
  const Weights weights{parameters, buffers};
  const at::Tensor first = block.forward({x}, weights, {});
  const at::Tensor mean = buffers[0].clone();
  EXPECT_GT(mean.abs().max().item<float>(), 0.1F);
  const at::Tensor again = block.forward({x}, weights, {.update_statistics = false});
  EXPECT_TRUE(at::equal(first, again));
  EXPECT_TRUE(at::equal(buffers[0], mean));
  EXPECT_EQ(buffers[2].item<std::int64_t>(), 1);
}

// PyTorch refuses such a minibatch. Here it may be the last one of an epoch.
TEST(BatchNorm, LearnsNoVarianceFromASingleValue) {
  Tensors weights{at::ones({3}), at::zeros({3})};
  Tensors buffers{at::zeros({3}), at::ones({3}), at::zeros({}, at::kLong)};
  const at::Tensor x = at::ones({1, 3, 1, 1});
  const at::Tensor out = batch_norm2d(3).forward({x}, {weights, buffers}, {});
  EXPECT_TRUE(at::equal(out, at::zeros_like(x)));
  EXPECT_TRUE(at::equal(buffers[0], at::zeros({3})));
  EXPECT_TRUE(at::equal(buffers[1], at::ones({3})));
  EXPECT_EQ(buffers[2].item<std::int64_t>(), 0);
}

TEST(Dropout, DependsOnItsKeyAloneAndKeepsTheMean) {
  const at::Tensor x = at::ones({100, 100});
  Pass pass;
  pass.random = {.seed = 1, .layer = 2, .minibatch = 3, .microbatch = 4};
  const at::Tensor once = dropout(x, 0.25, pass);
  EXPECT_TRUE(at::equal(once, dropout(x, 0.25, pass)));
  EXPECT_NEAR(once.mean().item<double>(), 1, 0.03);
  EXPECT_NEAR((once == 0).to(at::kFloat).mean().item<double>(), 0.25, 0.03);
  Pass other = pass;
  other.random.microbatch = 5;
  EXPECT_FALSE(at::equal(once, dropout(x, 0.25, other)));
  EXPECT_TRUE(at::equal(dropout(x, 1, pass), at::zeros_like(x)));
  pass.training = false;
  EXPECT_TRUE(at::equal(dropout(x, 0.25, pass), x));
}

// Three layers use one matrix. Its gradient equals that of plain libtorch code.
TEST(TiedLinear, LearnsWithTheLayerWhoseWeightsItHas) {
  NetworkBuilder net("three", 2);
  Wire x = net.input("x", {2, 4}, at::kFloat);
  Block owner = linear(4, 4);
  owner.shared = {0};
  x = net.add("a", std::move(owner), {x});
  const Wire weight = net.weight(x);
  x = net.add("b", tied_linear(4, 4, {}), {x, weight});
  x = net.add("c", tied_linear(4, 4, {}), {x, weight});
  const Wire labels = net.input("labels", {2}, at::kLong, 4);
  const Network network = std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
  EXPECT_EQ(parameter_count(network), 4 * 4 + 3 * 4);
  EXPECT_TRUE(network.graph.value(network.graph.layer(weight.layer).outputs[1]).is_weight);

  WholeModel model(network, at::kCPU, 7);
  const Values values = model.forward(model.sample_inputs(0), 0);
  const auto p = model.parameters();
  const auto input = [&](const char* name) {
    return values.at(network.graph.layer(*network.graph.find(name)).outputs[0]);
  };
  at::Tensor y = input("x");
  for (const char* const layer : {"a", "b", "c"})
    y = at::linear(y, p.at("a.weight"), p.at(std::string(layer) + ".bias"));
  const at::Tensor loss = at::cross_entropy_loss(y, input("labels"));
  const at::Tensor wanted = torch::autograd::grad({loss}, {p.at("a.weight")})[0];
  torch::autograd::backward({values.at(network.loss)}, {});
  EXPECT_TRUE(at::equal(p.at("a.weight").grad(), wanted));
}

// The sizes cover all operations that compute the pooling.
TEST(AveragePool, IsLibtorchsAdaptiveOne) {
  for (const auto& [from, to] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {6, 2}, {6, 1}, {7, 7}, {1, 7}, {5, 3}, {3, 5}}) {
    SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
    at::Tensor x = at::randn({2, 3, from, from}).requires_grad_();
    const Tensors none;
    const at::Tensor ours = average_pool2d_to(to).forward(Tensors{x}, {none, none}, {});
    const at::Tensor theirs = at::adaptive_avg_pool2d(x, {to, to});
    EXPECT_TRUE(at::allclose(ours, theirs, 1e-6, 1e-6));
    const at::Tensor gradient = at::randn(ours.sizes());
    EXPECT_TRUE(at::allclose(torch::autograd::grad({ours}, {x}, {gradient})[0],
                             torch::autograd::grad({theirs}, {x}, {gradient})[0], 1e-5, 1e-6));
  }
}

TEST(MemoryMeter, CountsWhatThisThreadAllocatesAndFrees) {
  const MemoryMeter meter;
  at::Tensor kept = at::ones({1000});
  EXPECT_EQ(meter.live(), 4000);
  { const at::Tensor gone = at::ones({500}); }
  EXPECT_EQ(meter.live(), 4000);
  EXPECT_EQ(meter.peak(), 6000);
  kept.reset();
  EXPECT_EQ(meter.live(), 0);
}

TEST(MemoryMeter, DoesNotCountWhatWasGivenAway) {
  const MemoryMeter meter(make_memory_ledger());
  at::Tensor given = at::ones({1000});
  const at::Tensor kept = at::ones({10});
  MemoryMeter::give_away(given.const_data_ptr());
  MemoryMeter::give_away(given.const_data_ptr());
  EXPECT_EQ(meter.live(), 40);
  given.reset();
  EXPECT_EQ(meter.live(), 40) << "freed once, taken off once";
}

TEST(MemoryMeter, CountsWhatItTookOverForAsLongAsThatLasts) {
  EXPECT_EQ(MemoryMeter::take_over(7), nullptr) << "there is no meter";
  const MemoryMeter meter;
  auto taken = MemoryMeter::take_over(100);
  EXPECT_EQ(meter.live(), 100);
  taken.reset();
  EXPECT_EQ(meter.live(), 0);
  EXPECT_EQ(meter.peak(), 100);
}

TEST(MemoryMeter, CountsItsPeakFromWhereItWasRestarted) {
  MemoryMeter meter;
  const at::Tensor kept = at::ones({1000});
  { const at::Tensor gone = at::ones({500}); }
  meter.restart_peak();
  EXPECT_EQ(meter.peak(), 4000);
  { const at::Tensor gone = at::ones({10}); }
  EXPECT_EQ(meter.peak(), 4040);
}

TEST(LabelSmoothing, ChangesTheLossOfTrainingAlone) {
  NetworkBuilder net("smooth", 4);
  const Wire x = net.input("features", {4, 3}, at::kFloat);
  const Wire labels = net.input("labels", {4}, at::kLong, 3);
  Network network = std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
  const at::Tensor scores = at::randn({4, 3});
  const at::Tensor classes = at::arange(4) % 3;
  const auto loss_of = [&](bool training) {
    const LayerId layer = network.graph.value(network.loss).producer;
    return make_layer(network, layer, 0, at::kCPU)
        ->forward({scores, classes}, {.training = training})[0]
        .item<float>();
  };
  const float plain = at::cross_entropy_loss(scores, classes).item<float>();
  EXPECT_EQ(loss_of(true), plain);
  smooth_labels(network, 0.2);
  EXPECT_EQ(loss_of(false), plain);
  EXPECT_EQ(
      loss_of(true),
      at::cross_entropy_loss(scores, classes, {}, at::Reduction::Mean, -100, 0.2).item<float>());
}

// A loss of logits [4, 3, 5], which are a parameter's worth of numbers, and labels [4, 3].
Network words_network() {
  NetworkBuilder net("words", 4);
  const Wire x = net.input("logits", {4, 3, 5}, at::kFloat);
  const Wire labels = net.input("labels", {4, 3}, at::kLong, 5);
  return std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
}

// The loss of a pass that trains, and its gradient.
std::pair<at::Tensor, at::Tensor> loss_and_gradient(const Network& network,
                                                    const at::Tensor& scores,
                                                    const at::Tensor& labels) {
  const LayerId layer = network.graph.value(network.loss).producer;
  const at::Tensor leaf = scores.detach().clone().requires_grad_();
  const at::Tensor loss =
      make_layer(network, layer, 0, at::kCPU)->forward({leaf, labels}, {.training = true})[0];
  torch::autograd::backward({loss}, {});
  return {loss.detach(), leaf.grad()};
}

// Twelve labels of which five are padding.
at::Tensor padded_labels() {
  return at::tensor({1, 2, -100, 4, -100, -100, 0, 1, 2, 3, -100, -100}, at::kLong).view({4, 3});
}

TEST(Padding, IsIgnoredByTheLossAndItsGradients) {
  const at::Tensor scores = at::randn({4, 3, 5});
  for (const double smoothing : {0.0, 0.3}) {
    Network network = words_network();
    if (smoothing > 0) smooth_labels(network, smoothing);
    ignore_padding(network);
    const auto [loss, gradient] = loss_and_gradient(network, scores, padded_labels());
    // The mean over the seven labels that are there, as a plain program computes it.
    const at::Tensor leaf = scores.flatten(0, 1).clone().requires_grad_();
    const at::Tensor there = padded_labels().flatten().ne(-100).nonzero().flatten();
    const at::Tensor plain = at::cross_entropy_loss(
        leaf.index_select(0, there), padded_labels().flatten().index_select(0, there), {},
        at::Reduction::Mean, -100, smoothing);
    torch::autograd::backward({plain}, {});
    EXPECT_TRUE(at::allclose(loss, plain * 7 / 12));
    EXPECT_TRUE(at::allclose(gradient, leaf.grad().view({4, 3, 5}) * 7 / 12));
  }
}

TEST(Padding, MakesNoDifferenceHowAMinibatchIsCut) {
  Network network = words_network();
  ignore_padding(network);
  const at::Tensor scores = at::randn({4, 3, 5});
  const auto [loss, gradient] = loss_and_gradient(network, scores, padded_labels());
  at::Tensor sum = at::zeros({});
  for (const auto& [first, count] : {std::pair(0, 1), {1, 3}}) {  // the first has less padding
    const auto part = [&](const at::Tensor& whole) { return whole.narrow(0, first, count); };
    const auto [own, own_gradient] =
        loss_and_gradient(network, part(scores), part(padded_labels()));
    sum += own * count / 4;
    EXPECT_TRUE(at::allclose(own_gradient * count / 4, part(gradient)));
  }
  EXPECT_TRUE(at::allclose(sum, loss));
}

TEST(Padding, CombinesWithLabelSmoothingInEitherOrder) {
  Network one = words_network();
  smooth_labels(one, 0.2);
  ignore_padding(one);
  Network other = words_network();
  ignore_padding(other);
  smooth_labels(other, 0.2);
  const at::Tensor scores = at::randn({4, 3, 5});
  const auto [loss, gradient] = loss_and_gradient(one, scores, padded_labels());
  const auto [same_loss, same_gradient] = loss_and_gradient(other, scores, padded_labels());
  EXPECT_TRUE(at::equal(loss, same_loss));
  EXPECT_TRUE(at::equal(gradient, same_gradient));
}

TEST(Padding, IgnoredWhereThereIsNoneChangesNoBit) {
  const at::Tensor scores = at::randn({4, 3, 5});
  const at::Tensor labels = at::arange(12).view({4, 3}) % 5;
  Network padded = words_network();
  ignore_padding(padded);
  const auto [loss, gradient] = loss_and_gradient(words_network(), scores, labels);
  const auto [same_loss, same_gradient] = loss_and_gradient(padded, scores, labels);
  EXPECT_TRUE(at::equal(loss, same_loss));
  EXPECT_TRUE(at::allclose(gradient, same_gradient));
}

TEST(LabelSmoothing, IsForCrossEntropyOnly) {
  NetworkBuilder net("other", 4);
  const Wire x = net.input("features", {4, 3}, at::kFloat);
  Network network = std::move(net).build(net.add(
      "mean",
      Block{.kind = "Mean",
            .infer =
                [](auto inputs) {
                  return TensorType{{}, inputs[0].type};
                },
            .forward = [](const Tensors& in, const Weights&, const Pass&) { return in[0].mean(); }},
      {x}));
  EXPECT_EQ(
      test::message_of<CannotMeet>([&] { smooth_labels(network, 0.1); }),
      "`label_smoothing` is for the loss cross-entropy, and that of 'other' is Mean: leave it "
      "out");
}

}  // namespace
}  // namespace pipedream::model
