#include "data/synthetic.h"

#include <numeric>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "data/networks_testing.h"

namespace pipedream::data {
namespace {

using test::message_of;

using Samples = std::vector<std::int64_t>;

// The numbers of the first `count` samples.
Samples first(std::int64_t count) {
  Samples samples(static_cast<std::size_t>(count));
  std::iota(samples.begin(), samples.end(), 0);
  return samples;
}

// A network that has inputs and no layers.
model::Network reading(std::vector<model::InputSpec> inputs) {
  return {.name = "made up", .batch = 4, .inputs = std::move(inputs)};
}

model::Network film_describer() {
  return reading({{LayerId{0}, "frames", {4, 5, 20}, at::kFloat, 0},
                  {LayerId{1}, "words", {4, 7}, at::kLong, 40},
                  {LayerId{2}, "labels", {4, 7}, at::kLong, 40}});
}

TEST(Synthetic, FitsTheInputsOfEveryNetworkOfTheZoo) {
  for (const model::NetworkEntry& entry : model::zoo()) {
    const auto network = small_network(entry);
    const Data data = open_synthetic(network, 1);
    for (const model::InputSpec& input : network.inputs) {
      const at::Tensor loaded = data.training->load(input, first(3));
      model::Shape shape = input.shape;
      shape[0] = 3;
      EXPECT_EQ(loaded.sizes(), shape) << entry.name << " " << input.name;
      EXPECT_EQ(loaded.scalar_type(), input.type) << entry.name << " " << input.name;
      if (input.bound == 0) continue;
      EXPECT_GE(loaded.min().item<std::int64_t>(), 0) << entry.name << " " << input.name;
      EXPECT_LT(loaded.max().item<std::int64_t>(), input.bound) << entry.name << " " << input.name;
    }
  }
}

TEST(Synthetic, ASampleIsTheSameWhoeverAsksWithWhichOthers) {
  for (const char* name : {"mlp", "vgg16", "gpt", "gnmt8"}) {
    const auto network = small_network(name);
    const Data one = open_synthetic(network, 5);
    const Data two = open_synthetic(network, 5);
    const Data other_seed = open_synthetic(network, 6);
    bool seed_counts = false;
    for (const model::InputSpec& input : network.inputs) {
      const at::Tensor all = one.training->load(input, first(8));
      const at::Tensor some = two.training->load(input, Samples{6, 2});
      EXPECT_TRUE(at::equal(some[0], all[6])) << name << " " << input.name;
      EXPECT_TRUE(at::equal(some[1], all[2])) << name << " " << input.name;
      seed_counts |= !at::equal(all, other_seed.training->load(input, first(8)));
    }
    EXPECT_TRUE(seed_counts) << name;
  }
}

TEST(Synthetic, HeldOutSamplesAreOthers) {
  for (const char* name : {"mlp", "gpt", "gnmt8"}) {
    const auto network = small_network(name);
    const Data data = open_synthetic(network, 5);
    const model::InputSpec& input = network.inputs[0];
    EXPECT_FALSE(
        at::equal(data.training->load(input, first(4)), data.held_out->load(input, first(4))))
        << name;
  }
}

TEST(Synthetic, EveryClassHasAsManySamples) {
  const auto network = small_network("mlp");
  const Data data = open_synthetic(network, 1);
  const at::Tensor labels = data.training->load(input_of(network, "labels"), first(100));
  EXPECT_TRUE(at::equal(at::bincount(labels), at::full({5}, 20, at::kLong)));
}

TEST(Synthetic, LanguageLabelsAreTheNextTokensAndMostlyFollow) {
  const auto network = small_network("gpt", {{"context", "200"}});
  const Data data = open_synthetic(network, 1);
  const at::Tensor tokens = data.training->load(input_of(network, "tokens"), first(20));
  const at::Tensor labels = data.training->load(input_of(network, "labels"), first(20));
  EXPECT_TRUE(at::equal(tokens.slice(1, 1), labels.slice(1, 0, -1)));
  // After word 3 its most common next word comes nine times in ten.
  const at::Tensor after = labels.masked_select(tokens.eq(3));
  const auto commonest = at::bincount(after).max().item<double>();
  EXPECT_NEAR(commonest / static_cast<double>(after.numel()), 0.9, 0.06);
}

TEST(Synthetic, TranslationsStandForTheSourceWordByWordAndTargetsComeOnePlaceLater) {
  const auto network = small_network("gnmt8");
  const Data data = open_synthetic(network, 1);
  const at::Tensor source = data.training->load(input_of(network, "source"), first(50)).flatten();
  const at::Tensor target = data.training->load(input_of(network, "target"), first(50));
  const at::Tensor labels = data.training->load(input_of(network, "labels"), first(50));
  EXPECT_TRUE(at::equal(target.slice(1, 1), labels.slice(1, 0, -1)));
  EXPECT_TRUE(at::equal(target.select(1, 0), at::zeros({50}, at::kLong)));
  for (std::int64_t word = 0; word < 31; ++word) {
    const at::Tensor meanings = labels.flatten().masked_select(source.eq(word));
    if (meanings.numel() == 0) continue;
    EXPECT_EQ(meanings.min().item<std::int64_t>(), meanings.max().item<std::int64_t>());
  }
}

TEST(Synthetic, CaptionsAreDeterminedByWhatTheFramesShow) {
  const auto network = film_describer();
  const Data data = open_synthetic(network, 1);
  const at::Tensor frames = data.training->load(network.inputs[0], first(64));
  const at::Tensor words = data.training->load(network.inputs[1], first(64));
  const at::Tensor labels = data.training->load(network.inputs[2], first(64));
  EXPECT_EQ(frames.sizes(), (model::Shape{64, 5, 20}));
  EXPECT_TRUE(at::equal(words.slice(1, 1), labels.slice(1, 0, -1)));
  // The film whose frames are nearest to those of film 0 has the same caption.
  const at::Tensor distance = (frames - frames[0]).square().sum({1, 2});
  const auto nearest = distance.slice(0, 1).argmin().item<std::int64_t>() + 1;
  EXPECT_TRUE(at::equal(labels[0], labels[nearest]));
}

TEST(Synthetic, MakesUpSamplesForAnyInputs) {
  const auto network = reading({{LayerId{0}, "heat", {4, 3, 3}, at::kFloat, 0},
                                {LayerId{1}, "time", {4}, at::kFloat, 0},
                                {LayerId{2}, "words", {4, 6}, at::kInt, 9},
                                {LayerId{3}, "target", {4, 2, 2}, at::kLong, 3}});
  const Data data = open_synthetic(network, 1);
  for (const model::InputSpec& input : network.inputs) {
    const at::Tensor values = data.training->load(input, first(4));
    EXPECT_EQ(values.sizes(), input.shape) << input.name;
    EXPECT_EQ(values.scalar_type(), input.type) << input.name;
    if (input.bound > 0) {
      EXPECT_GE(values.min().item<std::int64_t>(), 0) << input.name;
      EXPECT_LT(values.max().item<std::int64_t>(), input.bound) << input.name;
    }
    EXPECT_FALSE(at::equal(values[0], values[1])) << input.name;
  }
}

}  // namespace
}  // namespace pipedream::data
