#include "generate/generate.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>

#include "core/error.h"
#include "core/testing.h"
#include "data/networks_testing.h"

namespace pipedream::generate {
namespace {

// The initial weights of a network for this seed.
FindTensor random_weights(const model::Network& network, std::uint64_t seed) {
  const auto model = std::make_shared<model::WholeModel>(network, at::Device(at::kCPU), seed);
  return
      [named = model->parameters(), model](const std::string& name) -> std::optional<at::Tensor> {
        const auto found = named.find(name);
        if (found == named.end()) return std::nullopt;
        // Larger than initial weights are, so that the highest score does not hang on rounding.
        return found->second.detach() * 4;
      };
}

TEST(Choice, TakesTheFirstOfTheHighestWithoutATemperature) {
  EXPECT_EQ(choose(at::tensor({0.5F, 3.0F, -1.0F, 3.0F}), {}, 0), 1);
}

TEST(Choice, DrawsWordsAsOftenAsTheSoftmaxSays) {
  const at::Tensor scores = at::tensor({std::log(1.0F), std::log(5.0F), std::log(2.0F)});
  std::map<std::int64_t, int> drawn;
  for (std::int64_t place = 0; place < 8000; ++place)
    ++drawn[choose(scores, {.temperature = 1, .seed = 4}, place)];
  EXPECT_NEAR(drawn[0], 1000, 150);
  EXPECT_NEAR(drawn[1], 5000, 300);
  EXPECT_NEAR(drawn[2], 2000, 200);
}

TEST(Choice, DrawsOnlyTheHighestIfSoManyAreAskedFor) {
  const at::Tensor scores = at::tensor({1.0F, 1.1F, 0.9F, 1.2F});
  std::map<std::int64_t, int> drawn;
  for (std::int64_t place = 0; place < 500; ++place)
    ++drawn[choose(scores, {.temperature = 2, .top = 2, .seed = 1}, place)];
  EXPECT_EQ(drawn.size(), 2u);
  EXPECT_TRUE(drawn.contains(1) && drawn.contains(3));
  EXPECT_EQ(choose(scores, {.temperature = 2, .top = 1, .seed = 1}, 7), 3);
}

TEST(Choice, IsTheSameForTheSameSeedAndPlace) {
  const at::Tensor scores = at::full({50}, 1.0F);
  const Sampling sampling{.temperature = 1, .seed = 9};
  std::map<std::int64_t, int> drawn;
  for (std::int64_t place = 0; place < 20; ++place) {
    ++drawn[choose(scores, sampling, place)];
    EXPECT_EQ(choose(scores, sampling, place), choose(scores, sampling, place));
  }
  EXPECT_GT(drawn.size(), 5u) << "other places draw other words";
}

// Each new word is the one with the highest score where the whole text is read at once.
TEST(Generate, ContinuesATextByTheWordsThatTheNetworkExpectsMost) {
  for (const std::string name : {"gpt", "awd-lm"}) {
    const model::Network network = data::small_network(name, {}, 1);
    const auto task = std::get<data::LanguageModel>(*data::task_of(network));
    Predictor predictor(network, random_weights(network, 3), at::kCPU);
    const std::int64_t window = task.tokens.shape[1];
    Words text{5, 2};
    continue_text(predictor, task, text, window - 2, {}, {0, 31},
                  [&](std::int64_t word) { text.push_back(word); });
    ASSERT_EQ(text.size(), static_cast<std::size_t>(window)) << name;
    const at::Tensor scores =
        predictor.scores({{task.tokens.name, at::tensor(text).unsqueeze(0)}})[0];
    for (std::int64_t t = 1; t + 1 < window; ++t)
      EXPECT_EQ(text[static_cast<std::size_t>(t) + 1], scores[t].argmax().item<std::int64_t>())
          << name << " at " << t;
  }
}

TEST(Generate, GoesOnAfterMoreWordsThanTheNetworkReads) {
  const model::Network network = data::small_network("gpt", {}, 1);
  const auto task = std::get<data::LanguageModel>(*data::task_of(network));
  Predictor predictor(network, random_weights(network, 3), at::kCPU);
  Words text{1};
  continue_text(predictor, task, text, 20, {}, {0, 31},
                [&](std::int64_t word) { text.push_back(word); });
  ASSERT_EQ(text.size(), 21u);
  const auto window = static_cast<std::size_t>(task.tokens.shape[1]);
  const Words last(text.end() - 1 - static_cast<std::ptrdiff_t>(window), text.end() - 1);
  EXPECT_EQ(text.back(), predictor.scores({{task.tokens.name, at::tensor(last).unsqueeze(0)}})[0]
                             .select(0, static_cast<std::int64_t>(window) - 1)
                             .argmax()
                             .item<std::int64_t>());
}

// What the decoder writes is what it expects most where it reads its own translation.
TEST(Generate, TranslatesSentencesOfABatchEachAsIfItWereAlone) {
  const model::Network network = data::small_network("gnmt8", {{"vocabulary", "23"}}, 3);
  const auto task = std::get<data::Translation>(*data::task_of(network));
  Predictor predictor(network, random_weights(network, 8), at::kCPU);
  const std::int64_t length = task.source.shape[1];
  const at::Tensor source = at::randint(3, 23, {3, length}, at::kLong);
  const Ends ends{.begin = 1, .end = 2};
  const std::vector<Words> all = translate(predictor, task, source, {0, 23}, ends);
  ASSERT_EQ(all.size(), 3u);
  for (std::int64_t i = 0; i < 3; ++i) {
    const Words& words = all[static_cast<std::size_t>(i)];
    EXPECT_EQ(translate(predictor, task, source.slice(0, i, i + 1), {0, 23}, ends)[0], words);
    at::Tensor target = at::full({1, length}, ends.begin, at::kLong);
    for (std::size_t t = 0; t + 1 < words.size(); ++t)
      target[0][static_cast<std::int64_t>(t) + 1] = words[t];
    const at::Tensor scores = predictor.scores(
        {{task.source.name, source.slice(0, i, i + 1)}, {task.target.name, target}})[0];
    for (std::size_t t = 0; t < words.size(); ++t)
      EXPECT_EQ(words[t], scores[static_cast<std::int64_t>(t)].argmax().item<std::int64_t>());
  }
}

TEST(Generate, EndsATranslationAtTheEnd) {
  const model::Network network = data::small_network("gnmt8", {{"vocabulary", "23"}}, 1);
  const auto task = std::get<data::Translation>(*data::task_of(network));
  const auto zeros = [&](const std::string& name) {
    // The second word counts most everywhere, whatever the attention makes of zeros.
    at::Tensor tensor = *random_weights(network, 1)(name);
    if (name.starts_with("decoder.classifier.classifier")) tensor.zero_();
    if (name == "decoder.classifier.classifier.bias") tensor[2] = 1;
    return std::optional(tensor);
  };
  Predictor predictor(network, zeros, at::kCPU);
  const at::Tensor source = at::full({1, task.source.shape[1]}, 5, at::kLong);
  EXPECT_EQ(translate(predictor, task, source, {3, 20}, {})[0], Words{});
}

TEST(Generate, WritesOnlyWhatStandsForText) {
  const model::Network network = data::small_network("gpt", {}, 1);
  const auto task = std::get<data::LanguageModel>(*data::task_of(network));
  Predictor predictor(network, random_weights(network, 3), at::kCPU);
  continue_text(predictor, task, {5}, 40, {.temperature = 50}, {3, 4}, [](std::int64_t word) {
    EXPECT_GE(word, 3);
    EXPECT_LT(word, 7);
  });
}

TEST(Predictor, RefusesNetworksThatPredictNoWordsAndWeightsThatLackATensor) {
  const model::Network mlp = data::small_network("mlp");
  EXPECT_NE(test::message_of<CannotMeet>([&] {
              const Predictor predictor(mlp, random_weights(mlp, 1), at::kCPU);
            }).find("does not predict words"),
            std::string::npos);
  const model::Network gpt = data::small_network("gpt");
  EXPECT_THROW(Predictor(
                   gpt, [](const std::string&) { return std::nullopt; }, at::kCPU),
               BadFile);
}

}  // namespace
}  // namespace pipedream::generate
