#include "imported/special.h"

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "imported/schema.h"

namespace pipedream::imported {
namespace {

constexpr bool kTraining = true;
constexpr bool kEvaluation = false;

// Computes aten::`name` with these arguments, as a layer would in training or in evaluation.
at::Tensor computed(const std::string& name, const std::string& overload,
                    std::vector<c10::IValue> arguments, bool training) {
  pt2::Call call;
  call.op = "aten::" + name;
  call.overload = overload;
  const auto op = find_operator(call);
  const Special special = special_for(call);
  EXPECT_TRUE(op && special != nullptr) << name;
  Surroundings surroundings;
  surroundings.pass.training = training;
  surroundings.pass.random.seed = 5;
  special(*op, arguments, surroundings);
  return arguments.at(0).toTensor();
}

double mean_of(const at::Tensor& x) { return x.mean().item<double>(); }

// What was dropped: elements with the most frequent value.
at::Tensor dropped_of(const at::Tensor& y) { return y.eq(std::get<0>(y.flatten().mode())); }

// Standard normal numbers, always the same ones.
at::Tensor normal_numbers(at::IntArrayRef shape) {
  return at::randn(shape, at::make_generator<at::CPUGeneratorImpl>(7));
}

TEST(Special, BernoulliIsItsMeanInEvaluation) {
  const at::Tensor x = at::empty({100, 100});
  const at::Tensor drawn = computed("bernoulli", "p", {x, 0.8, c10::IValue()}, kTraining);
  EXPECT_TRUE((drawn.eq(0).logical_or(drawn.eq(1))).all().item<bool>());
  EXPECT_NEAR(mean_of(drawn), 0.8, 0.02);
  const at::Tensor steady = computed("bernoulli", "p", {x, 0.8, c10::IValue()}, kEvaluation);
  EXPECT_TRUE(steady.equal(at::full({100, 100}, 0.8)));
  const at::Tensor shares = at::full({3}, 0.25);
  EXPECT_TRUE(computed("bernoulli", "", {shares, c10::IValue()}, kEvaluation).equal(shares));
}

TEST(Special, AnEmbeddingHasADenseGradient) {
  for (const bool sparse : {false, true}) {
    const at::Tensor weight = at::ones({4, 3}).set_requires_grad(true);
    const at::Tensor words = at::tensor({1, 1, 2}, at::kLong);
    computed("embedding", "", {weight, words, -1, false, sparse}, kTraining).sum().backward();
    EXPECT_EQ(weight.grad().layout(), at::kStrided);
    EXPECT_TRUE(weight.grad().sum(1).equal(at::tensor({0.0F, 6.0F, 3.0F, 0.0F})));
  }
}

TEST(Special, ACopyHasTheGradientOfWhatIsCopied) {
  const at::Tensor row = at::ones({3}).set_requires_grad(true);
  const at::Tensor copied = computed("copy", "", {at::empty({2, 3}), row, false}, kTraining);
  EXPECT_TRUE(copied.equal(at::ones({2, 3})));
  copied.sum().backward();
  EXPECT_TRUE(row.grad().equal(at::full({3}, 2.0)));
}

TEST(Special, RecurrentLayersWantAllTheirStatesAndWeights) {
  const at::Tensor x = at::ones({2, 3, 4});
  const at::Tensor state = at::zeros({1, 3, 5});
  const std::vector<at::Tensor> weights{at::ones({20, 4}), at::ones({20, 5}), at::ones({20}),
                                        at::ones({20})};
  const auto run = [&](std::vector<at::Tensor> states, std::vector<at::Tensor> of,
                       std::int64_t layers) {
    return computed("lstm", "input", {x, states, of, true, layers, 0.0, false, false, false},
                    kEvaluation);
  };
  EXPECT_EQ(run({state, state}, weights, 1).size(2), 5);
  EXPECT_THROW((void)run({state}, weights, 1), c10::Error);
  EXPECT_THROW((void)run({state, state}, weights, 0), c10::Error);
  EXPECT_THROW((void)run({state, state}, {weights[0]}, 1), c10::Error);
}

// The kernels of libtorch would read and write behind the ends of these tensors.
TEST(Special, NormalisationsWantTensorsOfTheRightSize) {
  const at::Tensor x = at::ones({2, 4, 3, 3});
  const at::Tensor four = at::ones({4});
  const at::Tensor one = at::ones({1});
  const c10::IValue none;
  EXPECT_NO_THROW(computed("native_batch_norm", "",
                           {x, four, four, four.clone(), four.clone(), true, 0.1, 1e-5},
                           kTraining));
  for (const auto& name :
       {"native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_functional"})
    for (std::size_t wrong = 1; wrong <= 4; ++wrong) {
      std::vector<c10::IValue> arguments{x, four, four, four, four, true, 0.1, 1e-5};
      arguments[wrong] = one;
      EXPECT_THROW(computed(name, "", arguments, kTraining), c10::Error) << name << " " << wrong;
    }
  EXPECT_THROW(computed("_native_batch_norm_legit_no_training", "",
                        {x, none, none, one, four, 0.1, 1e-5}, kEvaluation),
               c10::Error);
  EXPECT_THROW(
      computed("_native_batch_norm_legit", "no_stats", {x, one, none, true, 0.1, 1e-5}, kTraining),
      c10::Error);
  for (const auto& name : {"_weight_norm", "_weight_norm_interface"}) {
    EXPECT_NO_THROW(computed(name, "", {at::ones({4, 3}), at::ones({4, 1}), 0}, kTraining));
    EXPECT_THROW(computed(name, "", {at::ones({4096, 8}), one, 0}, kTraining), c10::Error) << name;
  }
}

TEST(Special, AnAliasHasTheElementsOfItsTensorAlone) {
  const std::vector<std::int64_t> shape{65536};
  const std::vector<std::int64_t> strides{1};
  EXPECT_THROW(computed("_reshape_alias", "", {at::ones({2}), shape, strides}, kTraining),
               c10::Error);
}

TEST(Special, BatchNormalisationOfOneSampleLeavesTheAverages) {
  pt2::Call call;
  call.op = "aten::_native_batch_norm_legit_functional";
  const at::Tensor four = at::full({4}, 0.5);
  std::vector<c10::IValue> stack{at::ones({1, 4}), four, four, four, four, true, 0.1, 1e-5};
  Surroundings surroundings;
  surroundings.pass.training = true;
  special_for(call)(*find_operator(call), stack, surroundings);
  EXPECT_TRUE(stack.at(3).toTensor().equal(four));
  EXPECT_TRUE(stack.at(4).toTensor().equal(four));
}

TEST(Special, AttentionGivesZeroToAQueryThatMayLookAtNoKey) {
  const at::Tensor x = normal_numbers({1, 2, 3, 4});
  at::Tensor mask = at::ones({3, 3}, at::kBool);
  mask[1].fill_(false);
  const at::Tensor y = computed("scaled_dot_product_attention", "",
                                {x, x, x, mask, 0.1, false, c10::IValue(), false}, kTraining);
  EXPECT_TRUE(y.isfinite().all().item<bool>());
  EXPECT_TRUE(y.select(2, 1).eq(0).all().item<bool>());
}

TEST(Special, ExponentialHasItsMean) {
  const at::Tensor drawn =
      computed("exponential", "", {at::empty({100, 100}), 4.0, c10::IValue()}, kTraining);
  EXPECT_TRUE(drawn.ge(0).all().item<bool>());
  EXPECT_NEAR(mean_of(drawn), 0.25, 0.01);
}

TEST(Special, AlphaDropoutKeepsMeanAndVariance) {
  const at::Tensor x = normal_numbers({300, 300});
  const at::Tensor y = computed("alpha_dropout", "", {x, 0.3, true}, kTraining);
  EXPECT_NEAR(mean_of(y), 0, 0.02);
  EXPECT_NEAR(y.var().item<double>(), 1, 0.03);
  EXPECT_NEAR(mean_of(dropped_of(y).to(at::kFloat)), 0.3, 0.01);
  EXPECT_TRUE(computed("alpha_dropout", "", {x, 0.3, true}, kEvaluation).equal(x));
}

TEST(Special, FeatureAlphaDropoutDropsWholeChannels) {
  const at::Tensor x = normal_numbers({40, 50, 6});
  const at::Tensor y = computed("feature_alpha_dropout", "", {x, 0.5, true}, kTraining);
  const at::Tensor dropped = dropped_of(y);
  EXPECT_TRUE(dropped.any(-1).equal(dropped.all(-1)));
  EXPECT_NEAR(mean_of(dropped.to(at::kFloat)), 0.5, 0.05);
}

TEST(Special, RreluDrawsSlopesInTrainingAlone) {
  const at::Tensor x = normal_numbers({1000});
  const at::Tensor y = computed("rrelu", "", {x, 0.1, 0.3, true, c10::IValue()}, kTraining);
  const at::Tensor slopes = (y / x).masked_select(x.lt(0));
  EXPECT_GT(slopes.min().item<double>(), 0.1 - 1e-6);
  EXPECT_LT(slopes.max().item<double>(), 0.3 + 1e-6);
  EXPECT_NEAR(mean_of(slopes), 0.2, 0.02);
  EXPECT_TRUE(y.masked_select(x.gt(0)).equal(x.masked_select(x.gt(0))));
  EXPECT_TRUE(computed("rrelu", "", {x, 0.1, 0.3, true, c10::IValue()}, kEvaluation)
                  .equal(at::leaky_relu(x, 0.2)));
}

}  // namespace
}  // namespace pipedream::imported
