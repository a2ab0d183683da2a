#include "runtime/gradient_buckets.h"

#include <gtest/gtest.h>

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

namespace pipedream::runtime {
namespace {

using Members = std::vector<std::size_t>;

model::Tensors parameters_of(const std::vector<std::int64_t>& sizes) {
  model::Tensors parameters;
  for (const std::int64_t size : sizes)
    parameters.push_back(at::ones({size}).set_requires_grad(true));
  return parameters;
}

constexpr BucketSizes kSmall{Bytes{8}, Bytes{40}};

TEST(BucketLayout, JoinsWholeLayersFromTheLastToTheFirst) {
  const model::Tensors parameters = parameters_of({6, 1, 4, 5, 2});
  const BucketLayout layout(parameters, {1, 0, 1, 2, 1}, kSmall);
  ASSERT_EQ(layout.buckets(), 3u);
  EXPECT_EQ(layout.parameters(0), (Members{4})) << "the first is full sooner";
  EXPECT_EQ(layout.parameters(1), (Members{3, 2, 1})) << "9 floats do not fill it, 10 do";
  EXPECT_EQ(layout.parameters(2), (Members{0}));
  EXPECT_EQ(layout.floats(1), 10);
  EXPECT_EQ(layout.bucket_of(4), 0u);
  EXPECT_EQ(layout.bucket_of(0), 2u);
}

TEST(BucketLayout, GivesLargeParametersABucketEach) {
  // From 12 bytes on. The small ones of all layers are joined as ever.
  const BucketLayout layout(parameters_of({3, 1, 1, 4, 1, 3}), {2, 2, 2},
                            {Bytes{8}, Bytes{8}, Bytes{12}});
  ASSERT_EQ(layout.buckets(), 5u);
  EXPECT_EQ(layout.parameters(0), (Members{5}));
  EXPECT_EQ(layout.parameters(1), (Members{3}));
  EXPECT_EQ(layout.parameters(2), (Members{4, 2})) << "is full after both";
  EXPECT_EQ(layout.parameters(3), (Members{0}));
  EXPECT_EQ(layout.parameters(4), (Members{1}));
}

TEST(BucketLayout, GivesEachParameterItsPartOfABucket) {
  const model::Tensors parameters{at::ones({2, 3}), at::ones({4})};
  const BucketLayout layout(parameters, {2}, kSmall);
  Buckets made;
  layout.allocate(0, made);
  ASSERT_EQ(made.flat.size(), 1u);
  made.views[1].fill_(1);
  made.views[0].fill_(2);
  EXPECT_EQ(made.views[0].sizes(), parameters[0].sizes());
  const std::vector<float> wanted{1, 1, 1, 1, 2, 2, 2, 2, 2, 2};
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_EQ(made.flat[0][static_cast<std::int64_t>(i)].item<float>(), wanted[i]);
}

TEST(BucketLayout, KnowsWhichParametersAStretchOfABucketIsOf) {
  using Piece = BucketLayout::Piece;
  const model::Tensors parameters = parameters_of({6, 1, 4, 5, 2});
  const BucketLayout layout(parameters, {1, 0, 1, 2, 1}, kSmall);
  EXPECT_EQ(layout.floats(1), 10);
  // Bucket 1 has five floats of parameter 3, four of parameter 2 and one of parameter 1.
  EXPECT_EQ(layout.pieces(1, {0, 10}), (std::vector<Piece>{{3, {0, 5}}, {2, {0, 4}}, {1, {0, 1}}}));
  EXPECT_EQ(layout.pieces(1, {3, 4}), (std::vector<Piece>{{3, {3, 2}}, {2, {0, 2}}}));
  EXPECT_EQ(layout.pieces(1, {6, 2}), (std::vector<Piece>{{2, {1, 2}}}));
  EXPECT_TRUE(layout.pieces(1, {5, 0}).empty());
}

TEST(GradientBuckets, AreHandedOverWhileABackwardRuns) {
  const model::Tensors parameters = parameters_of({2, 20, 2});
  GradientBuckets buckets(parameters, {parameters, {1, 1, 1}, kSmall});
  ASSERT_EQ(buckets.layout().buckets(), 3u);
  Members order;
  std::vector<float> first;
  buckets.begin([&](std::size_t bucket, const at::Tensor& flat) {
    order.push_back(bucket);
    first.push_back(flat[0].item<float>());
  });
  // The forward uses the last parameter last, so the backward reaches it first.
  const at::Tensor sum =
      ((parameters[0].sum() * 3 + parameters[1].sum()) * 5 + parameters[2].sum()) * 2;
  torch::autograd::backward({sum});
  EXPECT_EQ(order, (Members{0, 1, 2}));
  EXPECT_EQ(first, (std::vector<float>{2, 10, 30}));
  const auto round = buckets.finish();
  EXPECT_TRUE(at::equal(round.views[0], at::full({2}, 30.0)));
  EXPECT_FALSE(buckets.is_open());
  for (const at::Tensor& parameter : parameters) EXPECT_FALSE(parameter.grad().defined());
}

TEST(GradientBuckets, KeepTheirOrderWhateverAutogradDoes) {
  const model::Tensors parameters = parameters_of({2, 2});
  GradientBuckets buckets(parameters, {parameters, {1, 1}, kSmall});
  Members order;
  buckets.begin([&](std::size_t bucket, const at::Tensor&) { order.push_back(bucket); });
  torch::autograd::backward({parameters[0].sum()});  // fills bucket 1
  EXPECT_TRUE(order.empty());
  torch::autograd::backward({parameters[1].sum()});
  EXPECT_EQ(order, (Members{0, 1}));
  (void)buckets.finish();
}

TEST(GradientBuckets, TakeWhatIsThereWhereNoBackwardWasExpected) {
  const model::Tensors parameters = parameters_of({2, 3});
  GradientBuckets buckets(parameters, {parameters, {1, 1}, kSmall});
  torch::autograd::backward({parameters[0].sum() * 7});
  torch::autograd::backward({parameters[0].sum() * 4});
  EXPECT_FALSE(parameters[0].grad().defined()) << "it is in its bucket";
  Members order;
  buckets.begin([&](std::size_t bucket, const at::Tensor&) { order.push_back(bucket); });
  const auto round = buckets.finish();
  EXPECT_EQ(order, (Members{0, 1}));
  EXPECT_TRUE(at::equal(round.views[0], at::full({2}, 11.0)));
  EXPECT_TRUE(at::equal(round.views[1], at::zeros({3}))) << "it got no gradient";
}

TEST(GradientBuckets, AddWhatTheLastBackwardBringsBeforeTheyAreHandedOver) {
  const model::Tensors parameters = parameters_of({2});
  GradientBuckets buckets(parameters, {parameters, {1}, kSmall});
  torch::autograd::backward({parameters[0].sum() * 7});
  std::vector<float> seen;
  buckets.begin(
      [&](std::size_t, const at::Tensor& flat) { seen.push_back(flat[0].item<float>()); });
  torch::autograd::backward({parameters[0].sum() * 4});
  EXPECT_EQ(seen, (std::vector<float>{11}));
  (void)buckets.finish();
}

// Gradients of 12 bytes are buckets by themselves.
constexpr BucketSizes kAlone{Bytes{8}, Bytes{40}, Bytes{12}};

TEST(GradientBuckets, TakeALargeGradientAsItIs) {
  const model::Tensors parameters = parameters_of({3});
  const BucketLayout layout(parameters, {1}, kAlone);
  const at::Tensor gradient = at::ones({3});
  EXPECT_TRUE(layout.is_bucket(0, gradient));
  EXPECT_FALSE(layout.is_bucket(0, at::ones({4}).slice(0, 0, 3))) << "a part of other memory";
  EXPECT_FALSE(layout.is_bucket(0, at::ones({3}, at::kDouble)));
  const at::Tensor alias = gradient.view({3});
  EXPECT_FALSE(layout.is_bucket(0, gradient)) << "someone else may write to it";
}

TEST(GradientBuckets, AddToALargeGradientInTheNextBackward) {
  const model::Tensors parameters = parameters_of({3});
  GradientBuckets buckets(parameters, {parameters, {1}, kAlone});
  const auto round = [&](float first, float second) {
    torch::autograd::backward({parameters[0].sum() * first});
    buckets.begin([](std::size_t, const at::Tensor&) {});
    torch::autograd::backward({parameters[0].sum() * second});
    return buckets.finish();
  };
  Buckets done = round(1, 2);
  EXPECT_TRUE(at::equal(done.flat[0], at::full({3}, 3.0)));
  EXPECT_TRUE(at::equal(done.views[0], at::full({3}, 3.0)));
  buckets.give_back(std::move(done));
  EXPECT_TRUE(at::equal(round(3, 4).flat[0], at::full({3}, 7.0)));
}

TEST(GradientBuckets, HaveZerosForALargeParameterWithoutGradient) {
  const model::Tensors parameters = parameters_of({3});
  GradientBuckets buckets(parameters, {parameters, {1}, kAlone});
  buckets.begin([](std::size_t, const at::Tensor&) {});
  EXPECT_TRUE(at::equal(buckets.finish().flat[0], at::zeros({3})));
}

TEST(GradientBuckets, AreFilledAgainWhenTheyHaveComeBack) {
  const model::Tensors parameters = parameters_of({2, 3});
  GradientBuckets buckets(parameters, {parameters, {1, 1}, kSmall});
  const auto round = [&](float factor) {
    buckets.begin([](std::size_t, const at::Tensor&) {});
    torch::autograd::backward({parameters[0].sum() * factor});
    return buckets.finish();
  };
  Buckets first = round(7);
  first.views[1].fill_(5);
  const void* const memory = first.flat[0].const_data_ptr();
  const Buckets second = round(8);
  EXPECT_NE(second.flat[0].const_data_ptr(), memory) << "the first is still away";
  EXPECT_TRUE(at::equal(first.views[0], at::full({2}, 7.0)));
  buckets.give_back(std::move(first));
  const Buckets third = round(9);
  EXPECT_EQ(third.flat[0].const_data_ptr(), memory);
  EXPECT_TRUE(at::equal(third.views[0], at::full({2}, 9.0)));
  EXPECT_TRUE(at::equal(third.views[1], at::zeros({3}))) << "nothing is left of the first round";
}

TEST(GradientBuckets, LeaveParametersAloneWhenTheyAreGone) {
  const model::Tensors parameters = parameters_of({2});
  { const GradientBuckets buckets(parameters, {parameters, {1}, kSmall}); }
  torch::autograd::backward({parameters[0].sum()});
  EXPECT_TRUE(at::equal(parameters[0].grad(), at::ones({2})));
}

}  // namespace
}  // namespace pipedream::runtime
