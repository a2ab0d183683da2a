// Networks, samples and plans for tests that use the library as its users do, through its public
// header only. The plans do not depend on timing.
#pragma once

#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <pipedream/pipedream.h>

namespace pipedream::test {

using torch::Tensor;

inline constexpr std::int64_t kBatch = 8;
inline constexpr std::int64_t kSamples = 36;  // the last minibatch of an epoch is short

inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

inline void expect_refused(const std::function<void()>& action, const std::string& message) {
  EXPECT_THROW(action(), BadUsage);
  EXPECT_NE(message_of(action).find(message), std::string::npos) << message_of(action);
}

inline auto linear(std::int64_t in, std::int64_t out) {
  return [=] { return torch::nn::Linear(in, out); };
}
inline Tensor cross_entropy(const Tensor& scores, const Tensor& labels) {
  return torch::cross_entropy_loss(scores, labels);
}

// A network with every feature that is hard to cut: two inputs that the loss needs together, a
// value with three uses, layers with two outputs, a layer that takes the same value twice, running
// averages, and random numbers (`with_dropout`).
inline Network knotty(bool with_dropout = true) {
  Builder net("knotty");
  const Value x = net.input("x", {6});
  const Value labels = net.input("labels", {}, torch::kLong, 3);
  const Value first = net.add("first", linear(6, 8), {x});
  Value h = net.add("norm", [] { return torch::nn::BatchNorm1d(8); }, {first});
  h = net.add("relu", torch::relu, {h});
  if (with_dropout) h = net.add("drop", [] { return torch::nn::Dropout(0.25); }, {h});
  const Value halves = net.add("halves", [](const Tensor& in) { return in.chunk(2, 1); }, {h});
  h = net.add("joined", [](const std::vector<Tensor>& in) { return torch::cat(in, 1); },
              {net.output(halves, 1), net.output(halves, 0)});
  h = net.add("square", [](Tensor a, Tensor b) { return a * b; }, {h, h});
  h = net.add("sum", [](Tensor a, Tensor b, Tensor c) { return a + b + c; }, {h, first, first});
  h = net.add("skip", [](Tensor a, Tensor b) { return std::tuple(a + b, b); }, {h, first});
  h = net.add("last",
              [] {
                return torch::nn::Sequential(torch::nn::Linear(8, 8), torch::nn::Tanh(),
                                             torch::nn::Linear(8, 3));
              },
              {h});
  return net.build(net.add("loss", cross_entropy, {h, labels}), kBatch);
}

inline Network plain_chain() {
  Builder net("chain");
  const Value x = net.input("x", {6});
  const Value labels = net.input("labels", {}, torch::kLong, 3);
  Value h = net.add("a", linear(6, 8), {x});
  h = net.add("b", linear(8, 3), {h});
  return net.build(net.add("loss", cross_entropy, {h, labels}), kBatch);
}

// Samples that a network can learn: the label is the index of the largest of three sums.
inline Samples samples(std::int64_t count = kSamples, std::int64_t seed = 1) {
  const at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const Tensor x = torch::randn({count, 6}, generator);
  return in_memory({{"x", x}, {"labels", x.view({count, 3, 2}).sum(2).argmax(1)}});
}

inline Profile quick_profile(const Network& network) { return profile(network, {.seconds = 0.01}); }

// A gpipe plan with two microbatches and the cuts `split`, one worker per stage. An empty `split`
// gives one stage. The cuts do not depend on timing.
inline Plan gpipe(const Network& network, const std::vector<int>& split, bool recompute = true) {
  return plan(quick_profile(network), static_cast<int>(split.size()) + 1,
              {.system = "gpipe",
               .recompute = recompute,
               .microbatches = 2,
               .stages = split.empty() ? std::optional(1) : std::nullopt,
               .split = split});
}

inline Plan one_worker(const Network& network) {
  return plan(quick_profile(network), 1, {.system = "mp", .stages = 1});
}

inline void expect_same(const Weights& one, const Weights& other) {
  ASSERT_EQ(one.size(), other.size());
  for (const auto& [name, tensor] : one) {
    ASSERT_TRUE(other.contains(name)) << name;
    EXPECT_TRUE(torch::equal(tensor, other.at(name))) << name;
  }
}

}  // namespace pipedream::test
