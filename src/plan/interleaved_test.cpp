#include "plan/interleaved.h"

#include <set>

#include <gtest/gtest.h>

#include "cost/system_rules_testing.h"
#include "plan/dealing.h"

namespace pipedream::plan {
namespace {

// Returns a chain of equal layers: 1 ms forward, 2 ms backward.
profile::Profile equal_layers(int layers, std::int64_t weights = 10, std::int64_t stash = 0) {
  graph::Builder builder;
  profile::Profile profile;
  profile.batch = 64;
  builder.add_input("data", {{"out", {}, Bytes{0}}});
  profile.costs.emplace_back();
  for (int i = 0; i < layers; ++i) {
    builder.add_layer("layer" + std::to_string(i), "", {{"out", {}, Bytes{1}}});
    builder.add_edge(LayerId{i}, 0, LayerId{i + 1});
    profile.costs.push_back({.forward = std::chrono::milliseconds(1),
                             .backward = std::chrono::milliseconds(2),
                             .weights = Bytes{weights},
                             .stash = Bytes{stash}});
  }
  profile.graph = std::move(builder).build();
  return profile;
}

cluster::Cluster fast_room(int workers, std::int64_t memory = 1 << 30) {
  return {"flat",
          {{.name = "server", .count = workers, .bandwidth = {1e12}}},
          std::vector<cluster::Device>(static_cast<std::size_t>(workers), {Bytes{memory}, 1})};
}

Candidates plan_with(const profile::Profile& profile, const cluster::Cluster& cluster,
                     Setting setting = {}, std::optional<int> stages = {}) {
  setting.rules = cost::kInterleaved;
  const Cuts cuts = Cuts::in_declared_order(profile);
  return plan_interleaved(Predictor(cuts, cluster, setting), stages);
}

std::vector<Answer> answers_of(const profile::Profile& profile, const cluster::Cluster& cluster,
                               const Setting& setting = {}, std::optional<int> stages = {}) {
  Candidates answers = plan_with(profile, cluster, setting, stages);
  if (const auto* refusal = std::get_if<Refusal>(&answers)) throw std::runtime_error(refusal->why);
  return std::get<std::vector<Answer>>(std::move(answers));
}

std::vector<std::vector<WorkerId>> workers_of(const Answer& answer) {
  return answer.layout.workers;
}

Answer answer_of(const profile::Profile& profile, const cluster::Cluster& cluster,
                 const Setting& setting = {}) {
  return answers_of(profile, cluster, setting).front();
}

TEST(PlanInterleaved, DealsItsStagesOutToTheWorkersInTurn) {
  for (const int workers : {2, 3, 4}) {
    const Layout layout = answer_of(equal_layers(24), fast_room(workers)).layout;
    EXPECT_EQ(dealt_out_to(layout.workers), workers) << "without transfers all are of use";
    EXPECT_GE(layout.stages(), static_cast<std::size_t>(2 * workers));
  }
}

TEST(PlanInterleaved, TriesEveryNumberOfWorkersAndChunksThatThereAreLayersFor) {
  std::set<std::pair<int, int>> tried;
  for (const Answer& answer : answers_of(equal_layers(9), fast_room(4))) {
    const int workers = dealt_out_to(workers_of(answer)).value();
    tried.emplace(workers, static_cast<int>(answer.layout.stages()) / workers);
  }
  EXPECT_EQ(tried, (std::set<std::pair<int, int>>{{2, 2}, {2, 3}, {2, 4}, {3, 2}, {3, 3}, {4, 2}}));
}

TEST(PlanInterleaved, OfSoManyStagesTriesTheNumbersOfWorkersThatDivideThem) {
  std::set<int> tried;
  for (const Answer& answer : answers_of(equal_layers(12), fast_room(8), {}, 12)) {
    EXPECT_EQ(answer.layout.stages(), 12U);
    tried.insert(dealt_out_to(workers_of(answer)).value());
  }
  EXPECT_EQ(tried, (std::set<int>{2, 3, 4, 6}));
}

TEST(PlanInterleaved, RefusesStagesThatCannotBeDealtOut) {
  for (const int stages : {5, 2, 14})
    EXPECT_TRUE(
        std::holds_alternative<Refusal>(plan_with(equal_layers(12), fast_room(4), {}, stages)))
        << stages;
}

TEST(PlanInterleaved, BringsTheBestPredictedFirst) {
  const std::vector<Answer> answers = answers_of(equal_layers(16), fast_room(4));
  for (std::size_t i = 1; i < answers.size(); ++i)
    EXPECT_LE(answers[i - 1].objective, answers[i].objective);
}

// If transfers take no time, more stages per worker only shorten filling and draining: a minibatch
// takes v·M + n − 1 steps of 1/v each, with n workers, v stages on each and M microbatches.
TEST(PlanInterleaved, TakesAsManyStagesPerWorkerAsItTriesWhereTransfersAreFree) {
  const Answer answer = answer_of(equal_layers(16), fast_room(4), {.microbatches = 8});
  EXPECT_EQ(answer.layout.stages(), 16U);
  EXPECT_NEAR(answer.objective.count(), 0.003 / 8 * (4 * 8 + 4 - 1), 1e-9);
}

TEST(PlanInterleaved, OfFewLayersUsesFewerWorkers) {
  EXPECT_EQ(answer_of(equal_layers(5), fast_room(4)).layout.stages(), 4U) << "two workers of two";
  EXPECT_EQ(answer_of(equal_layers(1), fast_room(4)).layout.stages(), 1U);
  EXPECT_EQ(answer_of(equal_layers(3), fast_room(4)).layout.stages(), 1U)
      << "two workers would need four layers";
}

TEST(PlanInterleaved, OfOneWorkerIsASingleStage) {
  EXPECT_EQ(answer_of(equal_layers(9), fast_room(1)).layout.stages(), 1U);
}

TEST(PlanInterleaved, ClaimsNoBound) {
  EXPECT_FALSE(answer_of(equal_layers(8), fast_room(2)).bound.has_value());
}

// Weights, gradients and optimiser state take 3,000 bytes per layer. Besides, each stage receives,
// keeps and works on a few bytes. All stages of a worker together must fit.
TEST(PlanInterleaved, TheMemoryOfAWorkersStagesAddsUp) {
  const profile::Profile profile = equal_layers(8, 1000);
  const Answer answer = answer_of(profile, fast_room(2), {.microbatches = 4});
  std::vector<Bytes> used(2);
  Bytes largest{0};
  for (std::size_t s = 0; s < answer.layout.stages(); ++s) {
    const Bytes stage = answer.prediction.stages[s].memory.total();
    used[s % 2] += stage;
    largest = std::max(largest, stage);
  }
  const Bytes needed = std::max(used[0], used[1]);
  EXPECT_GT(needed.count, 4 * 3 * 1000);
  EXPECT_GT(needed, largest);
  EXPECT_TRUE(std::holds_alternative<std::vector<Answer>>(
      plan_with(profile, fast_room(2, needed.count), {.microbatches = 4})));
  const Candidates less = plan_with(profile, fast_room(2, 4 * 3 * 1000), {.microbatches = 4});
  ASSERT_TRUE(std::holds_alternative<Refusal>(less));
  EXPECT_TRUE(std::get<Refusal>(less).nearest.has_value());
}

// A layer keeps 8,000 bytes for eight microbatches in flight. With recomputation, it keeps those of
// one microbatch, and what the stage received.
TEST(PlanInterleaved, RecomputesWhereNothingElseFits) {
  const profile::Profile profile = equal_layers(8, 0, 8000);
  const Setting never{.recompute = Recompute::kNever, .microbatches = 8};
  const Setting needed{.recompute = Recompute::kWhereNeeded, .microbatches = 8};
  const cluster::Cluster small = fast_room(2, 10'000);
  constexpr int kStages = 4;  // one stage alone would fit
  EXPECT_TRUE(std::holds_alternative<Refusal>(plan_with(profile, small, never, kStages)));
  for (const Answer& answer : answers_of(profile, small, needed, kStages))
    for (const StagePrediction& stage : answer.prediction.stages) EXPECT_TRUE(stage.recompute);
  for (const StagePrediction& stage : answer_of(profile, fast_room(2), needed).prediction.stages)
    EXPECT_FALSE(stage.recompute) << "elsewhere it would only take longer";
}

}  // namespace
}  // namespace pipedream::plan
