// The same workers run several schedules one after another: training, evaluation, training again.
#include <gtest/gtest.h>

#include "core/error.h"
#include "runtime_cases_testing.h"
#include "schedule/evaluation.h"

namespace pipedream::test {
namespace {

constexpr std::int64_t kHeldOut = 1000;  // number of the first minibatch that is never trained on

struct Plans {
  std::string name;
  std::string system;
  std::vector<int> replicas;
  int microbatches = 1;
  int workers = 0;  // if not 0, deal_out() assigns the stages to them
};

struct SegmentsRun {
  runtime::Weights weights;
  runtime::Score score;
};

class RuntimeSegments : public testing::TestWithParam<Plans> {
 protected:
  RuntimeSegments() {
    plan.microbatches = GetParam().microbatches;
    if (GetParam().workers > 0) deal_out(plan, GetParam().workers);
  }

  [[nodiscard]] schedule::Extent extent(std::int64_t minibatches) const {
    return schedule::whole_minibatches(plan, minibatches);
  }
  [[nodiscard]] runtime::SampleFeed feed(std::int64_t first, std::int64_t minibatches) const {
    return {network, extent(minibatches), kSeed, first};
  }
  // Three held-out minibatches, the last one short.
  [[nodiscard]] schedule::Extent held_out_extent() const { return extent(3); }
  [[nodiscard]] runtime::SampleFeed held_out() const {
    return {network, held_out_extent(), kSeed, kHeldOut, 7};
  }

  // Trains on ten minibatches, evaluates if wanted, and trains on ten more.
  [[nodiscard]] SegmentsRun run(bool evaluates) const {
    const schedule::Schedule ten = systems::schedule_for(plan, {.minibatches = 10});
    const schedule::Schedule forwards =
        schedule::evaluation(plan, held_out_extent(), ten.rules.traits.replicas);
    const runtime::SampleFeed first = feed(0, 10);
    const runtime::SampleFeed second = feed(10, 10);
    const runtime::SampleFeed unseen = held_out();
    runtime::Job job = make_job(network, plan);
    job.replicas = ten.rules.traits.replicas;
    SegmentsRun result;
    runtime::run_on_threads(plan::worker_count(plan), {}, [&](const runtime::Seat& seat) {
      runtime::Worker worker(job, seat.me, seat.channels, seat.clock, {});
      worker.run({ten, extent(10), first, 0});
      if (evaluates) {
        const Bytes sent = worker.sent();
        worker.run({forwards, held_out_extent(), unseen, 0});
        EXPECT_EQ(worker.sent(), sent) << "evaluation counted as training";
        const runtime::Score sum =
            runtime::sum_scores(worker.score(), seat.channels.control, job.patience);
        if (seat.me == WorkerId{0}) result.score = sum;
      }
      worker.run({ten, extent(10), second, 10});
      runtime::Weights weights = gather_weights(worker, job, seat.channels.control);
      if (seat.me == WorkerId{0}) result.weights = std::move(weights);
    });
    return result;
  }
  [[nodiscard]] Rule rule() const {
    if (plan.system == "2bw")
      return one_update_behind(static_cast<std::int64_t>(plan.stages[0].workers.size()));
    if (plan.system == "dp-bsp") return [](std::size_t, std::int64_t t) { return t / 3; };
    if (plan.system != "pipedream") return newest_weights();
    return [this](std::size_t s, std::int64_t t) {
      const auto r = static_cast<std::int64_t>(plan.stages[s].workers.size());
      return r == 1 ? t - plan.stages[s].depth + 1 : t / r - plan.stages[s].depth;
    };
  }

  model::Network network = small_network("resnet");
  plan::Plan plan = cut_in_order(network, GetParam().system, GetParam().replicas);
};

TEST_P(RuntimeSegments, TheScoreIsThatOfTheTrainedWeights) {
  const SegmentsRun found = run(true);
  Reference plain(network, plan, kSeed, plan.system == "dapple");
  plain.train(feed(0, 10), extent(10), rule(), 0);
  const runtime::Score wanted = plain.evaluate(held_out(), held_out_extent());
  EXPECT_DOUBLE_EQ(found.score.loss, wanted.loss);
  EXPECT_EQ(found.score.samples, 2 * kBatch + 7);
  EXPECT_EQ(found.score.samples, wanted.samples);
  EXPECT_EQ(found.score.right, wanted.right);
  EXPECT_EQ(found.score.predictions, wanted.predictions);
  plain.train(feed(10, 10), extent(10), rule(), 10);
  expect_same(found.weights, plain.weights());
}

TEST_P(RuntimeSegments, EvaluationLeavesTrainingAsItIs) {
  expect_same(run(true).weights, run(false).weights);
}

INSTANTIATE_TEST_SUITE_P(Plans, RuntimeSegments,
                         testing::Values(Plans{"mp", "mp", {1, 1}},
                                         Plans{"gpipe", "gpipe", {1, 1, 1}, 4},
                                         Plans{"dapple", "dapple", {1, 1, 1, 1}, 4},
                                         Plans{"shared", "dapple", {2, 3, 1}, 2},
                                         Plans{"interleaved", "interleaved", {1, 1, 1, 1}, 4, 2},
                                         Plans{"straight", "pipedream", {1, 1, 1}},
                                         Plans{"replicated", "pipedream", {2, 1}},
                                         Plans{"replicated_at_the_end", "pipedream", {1, 3}},
                                         Plans{"two_buffered", "2bw", {2, 2}, 4},
                                         Plans{"data_parallel", "dp-bsp", {3}}),
                         [](const auto& of) { return of.param.name; });

// A sentence has one prediction per word.
TEST(RuntimeEvaluation, EveryWordOfASentenceIsAPrediction) {
  const model::Network network = small_network("gnmt8");
  const plan::Plan plan = cut_straight(network, "pipedream", 3);
  const schedule::Extent extent{2, 1, 1};
  const runtime::SampleFeed feed(network, extent, kSeed);
  const schedule::Schedule forwards =
      schedule::evaluation(plan, extent, schedule::Replicas::kTakeTurns);
  const runtime::Job job = make_job(network, plan);
  runtime::Score found;
  runtime::run_on_threads(3, {}, [&](const runtime::Seat& seat) {
    runtime::Worker worker(job, seat.me, seat.channels, seat.clock, {});
    worker.run({forwards, extent, feed, 0});
    const auto sum = runtime::sum_scores(worker.score(), seat.channels.control, job.patience);
    if (seat.me == WorkerId{0}) found = sum;
  });
  const runtime::Score wanted = Reference(network, plan, kSeed).evaluate(feed, extent);
  EXPECT_EQ(found.predictions, 2 * kBatch * 3);
  EXPECT_EQ(found.right, wanted.right);
  EXPECT_DOUBLE_EQ(found.loss, wanted.loss);
}

// Gradients of all stages are scaled by one factor.
TEST(RuntimeClipping, TheNormIsThatOfAllStagesTogether) {
  struct Way {
    std::string system;
    std::vector<int> replicas;
    int workers = 0;  // if not 0, deal_out() assigns the stages to them
    int microbatches = 4;
    int accumulate = 1;
  };
  std::vector<Way> ways;
  for (const std::size_t stages : all_or_last<std::size_t>({2, 3, 4})) {
    ways.push_back({"mp", std::vector<int>(stages, 1), 0, 1});
    ways.push_back({"gpipe", std::vector<int>(stages, 1)});
    ways.push_back({"dapple", std::vector<int>(stages, 1)});
    ways.push_back({"interleaved", std::vector<int>(2 * stages, 1), static_cast<int>(stages)});
  }
  ways.push_back({"dapple", {2, 1}});
  ways.push_back({"dapple", {1, 3}});
  ways.push_back({"dp-bsp", {2}, 0, 1});
  ways.push_back({"dp-bsp", {3}, 0, 1});
  ways.push_back({"dp-bsp", {2}, 0, 1, 2});
  ways.push_back({"gpipe", {1, 1, 1}, 0, 4, 4});
  ways.push_back({"dapple", {2, 1}, 0, 4, 2});
  ways.push_back({"interleaved", std::vector<int>(4, 1), 2, 4, 2});
  for (const std::string& name : networks({"mlp", "resnet", "gnmt8", "tied"}))
    for (const Way& way : ways) {
      if (name == "gnmt8" && way.replicas.size() != 3) continue;
      SCOPED_TRACE(name + ", " + way.system + " " + std::to_string(way.replicas.size()));
      model::Network network = small_network(name);
      plan::Plan plan = cut_in_order(network, way.system, way.replicas);
      if (way.workers > 0) deal_out(plan, way.workers);
      plan.microbatches = way.microbatches;
      plan.accumulate = way.accumulate;
      const Case test(std::move(network), plan, {.minibatches = 6});
      runtime::Job job = test.job();
      job.clip_norm = 0.05;
      const auto run = runtime::run_schedule(job, test.schedule, test.extent, test.feed);
      // Replicas that take minibatches in turn make one update for `in_turn` minibatches.
      const std::int64_t in_turn = way.accumulate * (way.system == "dp-bsp" ? way.replicas[0] : 1);
      const Rule rule = [in_turn](std::size_t, std::int64_t t) { return t / in_turn; };
      Reference plain = test.reference();
      plain.train(test.feed, test.extent, rule, 0, job.clip_norm);
      expect_same(run.weights, plain.weights());
      EXPECT_FALSE(are_same(run.weights, test.trained_by(rule))) << "nothing was clipped";
    }
}

TEST(RuntimeClipping, ANormBelowTheMostChangesNoBit) {
  model::Network network = small_network("mlp");
  plan::Plan plan = cut_straight(network, "dapple", 3);
  plan.microbatches = 4;
  const Case test(std::move(network), plan, {.minibatches = 5});
  runtime::Job job = make_job(test.network, test.plan);
  job.clip_norm = 1e6;
  expect_same(runtime::run_schedule(job, test.schedule, test.extent, test.feed).weights,
              test.trained_by(newest_weights()));
}

}  // namespace
}  // namespace pipedream::test
