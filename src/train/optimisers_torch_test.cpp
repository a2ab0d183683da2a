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

INSTANTIATE_TEST_SUITE_P(All, OptimisersTorch,
                         testing::Combine(testing::ValuesIn(systems::optimiser_names()),
                                          testing::Values(0.0, 0.1)),
                         [](const auto& named) {
                           return std::get<0>(named.param) +
                                  (std::get<1>(named.param) == 0 ? "" : "_with_decay");
                         });

}  // namespace
}  // namespace pipedream::train
