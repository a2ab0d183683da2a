#include "runtime/weight_store.h"

#include <gtest/gtest.h>

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

namespace pipedream::runtime {
namespace {

using schedule::WeightVersions;

at::Tensor parameter(float value) { return at::full({3}, value).requires_grad_(); }

// A step that adds the gradient to the weights, so that versions are easy to tell apart.
void add(const std::vector<ParameterStep>& steps) {
  for (const ParameterStep& step : steps) {
    at::Tensor out = step.to;
    at::add_out(out, step.from, step.gradient);
  }
}

void update(WeightStore& store, at::Tensor& weights, std::int64_t to) {
  weights.mutable_grad() = at::ones({3});
  store.update({to}, store.take_gradients(), add, {});
}

TEST(WeightStore, UpdatesInPlaceWhenNobodyUsesTheNewestVersion) {
  at::Tensor w = parameter(1);
  WeightStore store({w});
  update(store, w, 1);
  update(store, w, 2);
  EXPECT_EQ(store.peak(), 1u);
  store.activate({2});
  EXPECT_EQ(w[0].item<float>(), 3);
  EXPECT_FALSE(w.grad().defined());
}

TEST(WeightStore, KeepsAVersionUntilItsLastUserIsDone) {
  at::Tensor w = parameter(1);
  WeightStore store({w});
  store.acquire({0});
  store.acquire({0});
  update(store, w, 1);
  EXPECT_EQ(store.live(), 2u);
  store.activate({0});
  EXPECT_EQ(w[0].item<float>(), 1);
  store.activate({1});
  EXPECT_EQ(w[0].item<float>(), 2);
  store.release({0});
  EXPECT_EQ(store.live(), 2u);
  store.release({0});
  EXPECT_EQ(store.live(), 1u);
}

// A run of 1F1B at depth 3 needs at most three versions, however long it is.
TEST(WeightStore, ReusesTheBuffersOfVersionsThatDied) {
  at::Tensor w = parameter(0);
  WeightStore store({w});
  for (std::int64_t i = 0; i < 50; ++i) {
    store.acquire({std::max<std::int64_t>(0, i - 2)});
    if (i < 2) continue;
    store.release({std::max<std::int64_t>(0, i - 4)});
    update(store, w, i - 1);
  }
  EXPECT_EQ(store.peak(), 3u);
  EXPECT_EQ(store.newest_weights()[0][0].item<float>(), 48);
}

TEST(WeightStore, AParameterWithoutAGradientKeepsItsValue) {
  at::Tensor used = parameter(1);
  at::Tensor unused = parameter(5);
  WeightStore store({used, unused});
  store.acquire({0});
  update(store, used, 1);
  store.activate({1});
  EXPECT_EQ(used[0].item<float>(), 2);
  EXPECT_EQ(unused[0].item<float>(), 5);
}

TEST(WeightStore, EveryTensorBeginsAtACacheLine) {
  at::Tensor a = parameter(1);
  at::Tensor b = parameter(2);
  WeightStore store({a, b});
  const auto distance =
      static_cast<const char*>(b.const_data_ptr()) - static_cast<const char*>(a.const_data_ptr());
  EXPECT_EQ(distance % 64, 0);
}

TEST(WeightStoreDeathTest, UsingAVersionThatIsGoneIsABug) {
  at::Tensor w = parameter(1);
  WeightStore store({w});
  update(store, w, 1);
  EXPECT_DEATH(store.activate({0}), "does not hold");
}

// 2bw and vertical sync need older versions that no forward uses yet.
TEST(WeightStore, KeepsAsManyOfTheNewestVersionsAsTheRulesSay) {
  at::Tensor w = parameter(0);
  WeightStore store({w});
  store.begin({.traits = {.versions = WeightVersions::kVerticalSync}, .in_flight = {3}});
  for (std::int64_t to = 1; to <= 6; ++to) {
    update(store, w, to);
    EXPECT_EQ(store.live(), static_cast<std::size_t>(std::min<std::int64_t>(3, to + 1)));
  }
  EXPECT_EQ(store.peak(), 3u);
  for (const std::int64_t version : {4, 5, 6}) {
    store.activate({version});
    EXPECT_EQ(w[0].item<float>(), static_cast<float>(version));
  }
}

TEST(WeightStore, WithoutStashingThereIsOneBufferWhoeverUsesIt) {
  at::Tensor w = parameter(1);
  WeightStore store({w});
  store.begin({.traits = {.versions = WeightVersions::kUnstashed}});
  store.acquire({0});
  const at::Tensor kept = w.detach();  // as autograd would keep it
  update(store, w, 1);
  EXPECT_EQ(store.peak(), 1u);
  EXPECT_EQ(kept[0].item<float>(), 2);
  store.release({0});
  EXPECT_EQ(store.live(), 1u);
}

TEST(WeightStore, ANewScheduleBeginsWithTheNewestWeightsAsVersionZero) {
  at::Tensor w = parameter(0);
  WeightStore store({w});
  store.begin({.traits = {.versions = WeightVersions::kTwo}});
  update(store, w, 1);
  update(store, w, 2);
  EXPECT_EQ(store.live(), 2u);
  store.begin({});
  EXPECT_EQ(store.live(), 1u);
  EXPECT_EQ(store.newest(), WeightVersion{0});
  store.activate({0});
  EXPECT_EQ(w[0].item<float>(), 2);
  update(store, w, 1);
  EXPECT_EQ(store.live(), 1u);
  EXPECT_EQ(store.newest_weights()[0][0].item<float>(), 3);
}

TEST(WeightStore, AStageWithoutWeightsHasVersionsToo) {
  WeightStore store({});
  store.acquire({0});
  store.update({1}, store.take_gradients(), add, {});
  EXPECT_EQ(store.live(), 2u);
  store.activate({1});
  store.release({0});
  EXPECT_EQ(store.live(), 1u);
}

TEST(WeightStoreDeathTest, BeginningWhileAVersionIsInUseIsABug) {
  at::Tensor w = parameter(1);
  WeightStore store({w});
  store.acquire({0});
  EXPECT_DEATH(store.begin({}), "does not hold");
}

}  // namespace
}  // namespace pipedream::runtime
