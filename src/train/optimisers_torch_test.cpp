// Compares every optimiser with libtorch's own, bit for bit.
#include <gtest/gtest.h>

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include "systems/planning.h"
#include "train/optimiser_options.h"

namespace pipedream::train {
namespace {

constexpr int kSteps = 10;
const std::vector<std::int64_t> kSizes{1, 3, 17, 1001};  // no multiples of a vector's width

// libtorch's optimiser with the same options.
std::unique_ptr<torch::optim::Optimizer> theirs_of(const OptimiserOptions& o,
                                                   std::vector<at::Tensor> parameters) {
  const std::tuple<double, double> betas{o.beta1, o.beta2};
  if (o.kind == OptimiserKind::kAdam)
    return std::make_unique<torch::optim::Adam>(std::move(parameters),
                                                torch::optim::AdamOptions(o.learning_rate)
                                                    .betas(betas)
                                                    .eps(o.epsilon)
                                                    .weight_decay(o.weight_decay));
  if (o.kind == OptimiserKind::kAdamW)
    return std::make_unique<torch::optim::AdamW>(std::move(parameters),
                                                 torch::optim::AdamWOptions(o.learning_rate)
                                                     .betas(betas)
                                                     .eps(o.epsilon)
                                                     .weight_decay(o.weight_decay));
  return std::make_unique<torch::optim::SGD>(
      std::move(parameters), torch::optim::SGDOptions(o.learning_rate)
                                 .momentum(o.kind == OptimiserKind::kMomentum ? o.momentum : 0)
                                 .weight_decay(o.weight_decay));
}

class OptimisersTorch : public testing::TestWithParam<std::tuple<std::string, double>> {};

TEST_P(OptimisersTorch, AreTheSameBitForBitInPlaceAndIntoAnotherBuffer) {
  const OptimiserOptions options{.kind = optimiser_kind(std::get<0>(GetParam())),
                                 .learning_rate = 0.013,
                                 .weight_decay = std::get<1>(GetParam())};
  std::vector<at::Tensor> theirs;
  std::vector<at::Tensor> in_place;
  std::vector<at::Tensor> apart;
  for (const std::int64_t size : kSizes) {
    theirs.push_back(at::randn({size}).set_requires_grad(true));
    in_place.push_back(theirs.back().detach().clone());
    apart.push_back(in_place.back().clone());
  }
  const auto reference = theirs_of(options, theirs);
  const auto ours_in_place = make_optimiser(options);
  const auto ours_apart = make_optimiser(options);

  const at::NoGradGuard no_grad;
  for (int step = 0; step < kSteps; ++step) {
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      const at::Tensor gradient = at::randn_like(in_place[i]);
      theirs[i].mutable_grad() = gradient;
      ours_in_place->step({i, in_place[i], gradient.clone(), in_place[i]});
      const at::Tensor to = at::empty_like(apart[i]);
      const at::Tensor before = apart[i].clone();
      ours_apart->step({i, apart[i], gradient.clone(), to});
      EXPECT_TRUE(at::equal(apart[i], before));  // a stashed weight version must not change
      apart[i] = to;
    }
    reference->step();
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      EXPECT_TRUE(at::equal(theirs[i], in_place[i])) << "step " << step << ", parameter " << i;
      EXPECT_TRUE(at::equal(theirs[i], apart[i])) << "step " << step << ", parameter " << i;
    }
  }
}

void set_rate(torch::optim::Optimizer& optimiser, double rate) {
  for (torch::optim::OptimizerParamGroup& group : optimiser.param_groups())
    group.options().set_lr(rate);
}

TEST_P(OptimisersTorch, AreTheSameBitForBitWhileTheLearningRateChanges) {
  const OptimiserOptions options{.kind = optimiser_kind(std::get<0>(GetParam())),
                                 .learning_rate = 0.013,
                                 .weight_decay = std::get<1>(GetParam())};
  std::vector<at::Tensor> theirs{at::randn({kSizes.back()}).set_requires_grad(true)};
  const at::Tensor own = theirs[0].detach().clone();
  const auto reference = theirs_of(options, theirs);
  const auto optimiser = make_optimiser(options);
  const at::NoGradGuard no_grad;
  for (int step = 0; step < kSteps; ++step) {
    const at::Tensor gradient = at::randn_like(own);
    const double factor = 1.0 / (1 + step);
    theirs[0].mutable_grad() = gradient;
    set_rate(*reference, options.learning_rate * factor);
    reference->step();
    optimiser->step({0, own, gradient.clone(), own, /*divisor=*/1, factor});
    EXPECT_TRUE(at::equal(theirs[0], own)) << "step " << step;
  }
}

// As two parameter groups in torch: matrices with weight decay, and biases without.
TEST_P(OptimisersTorch, LeaveBiasesOutOfWeightDecayIfAsked) {
  OptimiserOptions with{.kind = optimiser_kind(std::get<0>(GetParam())),
                        .learning_rate = 0.013,
                        .weight_decay = std::get<1>(GetParam()),
                        .decays_vectors = false};
  OptimiserOptions without = with;
  without.weight_decay = 0;
  std::vector<at::Tensor> theirs;
  std::vector<at::Tensor> own;
  for (const at::IntArrayRef shape : {at::IntArrayRef{5, 7}, at::IntArrayRef{7}}) {
    theirs.push_back(at::randn(shape).set_requires_grad(true));
    own.push_back(theirs.back().detach().clone());
  }
  const auto matrices = theirs_of(with, {theirs[0]});
  const auto biases = theirs_of(without, {theirs[1]});
  const auto optimiser = make_optimiser(with);
  const at::NoGradGuard no_grad;
  for (int step = 0; step < kSteps; ++step) {
    std::vector<runtime::ParameterStep> steps;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const at::Tensor gradient = at::randn_like(own[i]);
      theirs[i].mutable_grad() = gradient;
      steps.push_back({i, own[i], gradient.clone(), own[i]});
    }
    matrices->step();
    biases->step();
    optimiser->step_all(steps);
    for (std::size_t i = 0; i < own.size(); ++i) EXPECT_TRUE(at::equal(theirs[i], own[i])) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OptimisersTorch,
                         testing::Combine(testing::ValuesIn(systems::optimiser_names()),
                                          testing::Values(0.0, 0.1)),
                         [](const auto& named) {
                           return std::get<0>(named.param) +
                                  (std::get<1>(named.param) == 0 ? "" : "_with_decay");
                         });

}  // namespace
}  // namespace pipedream::train
