// What is particular to S2VT: which LSTM reads padding at which steps.
#include <gtest/gtest.h>

#include <ATen/ops/lstm.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include "model/whole_model.h"
#include "model/zoo.h"

namespace pipedream::model {
namespace {

constexpr std::int64_t kBatch = 3;
constexpr std::int64_t kFrames = 5;
constexpr std::int64_t kWords = 4;

Network s2vt() {
  const NetworkEntry& entry = zoo_entry("s2vt");
  const std::map<std::string, std::string> small{
      {"frames", "5"},      {"features", "12"}, {"hidden", "24"}, {"embedding", "16"},
      {"vocabulary", "31"}, {"length", "4"},    {"dropout", "0"}};
  return entry.make(Options(entry.options, small), kBatch);
}

class S2vt : public testing::Test {
 protected:
  [[nodiscard]] ValueId value(const char* layer) const {
    return network_.graph.layer(network_.graph.find(layer).value()).outputs[0];
  }

  const Network network_ = s2vt();
  WholeModel model_{network_, at::kCPU, 3};
  Values values_ = model_.forward(model_.sample_inputs(0), 0);
};

TEST_F(S2vt, TheFirstLstmGoesOnOverZerosWhenTheFramesEnd) {
  const auto named = model_.parameters();
  const Tensors weights{named.at("lstm1.weight_ih_l0"), named.at("lstm1.weight_hh_l0"),
                        named.at("lstm1.bias_ih_l0"), named.at("lstm1.bias_hh_l0")};
  const auto lstm = [&](const at::Tensor& x, const Tensors& state) {
    return at::lstm(x, state, weights, true, 1, 0, false, false, true);
  };
  const at::Tensor zeros = at::zeros({1, kBatch, 24});
  const auto [read, h, c] = lstm(values_.at(value("embed_frames")), {zeros, zeros});
  const at::Tensor padded = std::get<0>(lstm(at::zeros({kBatch, kWords, 16}), {h, c}));
  const at::Tensor& states = values_.at(value("lstm1"));
  EXPECT_TRUE(at::allclose(states.narrow(1, 0, kFrames), read, 1e-5, 1e-7));
  EXPECT_TRUE(at::allclose(states.narrow(1, kFrames, kWords), padded, 1e-5, 1e-7));
}

TEST_F(S2vt, TheSecondLstmReadsWordsAfterTheFramesAndZerosBefore) {
  const at::Tensor& joined = values_.at(value("join"));
  EXPECT_TRUE(at::equal(joined.narrow(2, 0, 24), values_.at(value("lstm1"))));
  const at::Tensor words = joined.narrow(2, 24, 16);
  EXPECT_EQ(words.narrow(1, 0, kFrames).abs().max().item<float>(), 0);
  EXPECT_TRUE(at::equal(words.narrow(1, kFrames, kWords), values_.at(value("embed_words"))));
}

TEST_F(S2vt, OnlyTheStepsOfTheCaptionBecomeWords) {
  const at::Tensor& states = values_.at(value("lstm2"));
  EXPECT_TRUE(at::equal(values_.at(value("lstm2.caption")), states.narrow(1, kFrames, kWords)));
  EXPECT_EQ(values_.at(value("output")).sizes().vec(), (Shape{kBatch, kWords, 31}));
}

TEST_F(S2vt, AWordCountsForItsOwnStepAndThoseAfterIt) {
  Values inputs = model_.sample_inputs(0);
  inputs[value("words")] = inputs.at(value("words")).clone();
  at::Tensor third = inputs[value("words")].select(1, 2);
  third.copy_((third + 1) % 31);
  const at::Tensor changed = model_.forward(inputs, 0).at(value("output"));
  const at::Tensor& before = values_.at(value("output"));
  EXPECT_TRUE(at::equal(changed.narrow(1, 0, 2), before.narrow(1, 0, 2)));
  EXPECT_FALSE(at::equal(changed.select(1, 2), before.select(1, 2)));
  EXPECT_FALSE(at::equal(changed.select(1, 3), before.select(1, 3)));
}

}  // namespace
}  // namespace pipedream::model
