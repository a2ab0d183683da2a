// Replicated stages give, bit for bit, what a plain loop on one thread gives that runs minibatches
// one after another and adds the gradients of each round in the order of the ring
// (transport/ring.h).
#include <gtest/gtest.h>

#include "runtime_cases_testing.h"
#include "transport/lane_sums.h"
#include "transport/lanes_testing.h"

namespace pipedream::test {
namespace {

std::string text_of(const std::vector<int>& replicas) {
  std::string text;
  for (const int r : replicas) text += (text.empty() ? "" : "-") + std::to_string(r);
  return text;
}

Case case_of(const std::string& name, const std::string& system, const std::vector<int>& replicas,
             int microbatches, std::int64_t minibatches, bool recompute = false,
             std::optional<std::int64_t> last_samples = {}, std::optional<int> last = {}) {
  model::Network network = small_network(name);
  plan::Plan plan = cut_in_order(network, system, replicas);
  plan.microbatches = microbatches;
  for (plan::Stage& stage : plan.stages) stage.recompute = recompute;
  return {std::move(network),
          std::move(plan),
          {.minibatches = minibatches, .last_microbatches = last},
          last_samples};
}

TEST(RuntimeReplicas, PipedreamTakesMinibatchesInTurnAndAveragesEachRound) {
  const std::vector<std::vector<int>> plans{{2, 1}, {1, 2}, {3, 1}, {2, 2}, {2, 1, 1}, {3, 2}};
  for (const std::string& name : networks({"mlp", "resnet", "gnmt8", "tied"}))
    for (const auto& replicas : plans)
      for (const std::int64_t minibatches :
           all_or_last<std::int64_t>({20, 23})) {  // 23: the last round is not full
        SCOPED_TRACE(name + ", " + text_of(replicas) + ", " + std::to_string(minibatches));
        const Case test = case_of(name, "pipedream", replicas, 1, minibatches);
        expect_rule(test, round_robin(test.plan));
      }
}

// Every update has three rounds but the last one, and the last minibatch is a short one. All
// samples of an update count alike.
TEST(RuntimeReplicas, SeveralRoundsPerUpdateGiveTheBitsOfTheirRule) {
  for (const auto& [system, replicas, microbatches] :
       std::vector<std::tuple<std::string, std::vector<int>, int>>{{"pipedream", {2, 1}, 1},
                                                                   {"pipedream", {1, 2}, 1},
                                                                   {"pipedream", {3, 2}, 1},
                                                                   {"dapple", {2, 1}, 2},
                                                                   {"2bw", {2, 2}, 2},
                                                                   {"dp-bsp", {3}, 1}})
    for (const std::int64_t minibatches : {20, 23}) {
      SCOPED_TRACE(system + ", " + text_of(replicas) + ", " + std::to_string(minibatches));
      model::Network network = small_network("resnet");
      plan::Plan plan = cut_in_order(network, system, replicas);
      plan.microbatches = microbatches;
      plan.accumulate = 3;
      Case test(std::move(network), plan, {.minibatches = minibatches}, 5);
      test.rate = changing_rate();
      const bool takes_turns = system != "dapple";
      const Rule rounds = round_robin(plan);
      expect_rule(test, [&](std::size_t s, std::int64_t t) {
        if (system == "pipedream") return std::max<std::int64_t>(0, rounds(s, t)) / 3;
        const auto r = static_cast<std::int64_t>(takes_turns ? replicas[s] : 1);
        return t / (3 * r) - (system == "2bw" ? 1 : 0);
      });
    }
}

// Stages of different numbers of replicas are updated after different samples.
TEST(RuntimeReplicas, TheLearningRateMayChangeWithEveryUpdate) {
  for (const auto& [system, replicas, microbatches] :
       std::vector<std::tuple<std::string, std::vector<int>, int>>{{"pipedream", {3, 1}, 1},
                                                                   {"pipedream", {1, 2}, 1},
                                                                   {"dapple", {2, 2}, 2},
                                                                   {"2bw", {2, 2}, 2},
                                                                   {"dp-bsp", {3}, 1}}) {
    SCOPED_TRACE(system + ", " + text_of(replicas));
    Case test = case_of("mlp", system, replicas, microbatches, 8);
    test.rate = changing_rate();
    expect_bits(test, system == "pipedream" ? round_robin(test.plan)
                      : system == "2bw"     ? one_update_behind(2)
                      : system == "dp-bsp" ? Rule([](std::size_t, std::int64_t t) { return t / 3; })
                                           : newest_weights());
  }
}

// Gradients are summed where they lie, as NCCL does, but by lanes in host memory. With two replicas
// every order of summation gives the same bits.
TEST(RuntimeReplicas, GradientsThatAreSummedWhereTheyLieGiveTheSame) {
  for (const auto& [system, replicas] : std::vector<std::pair<std::string, std::vector<int>>>{
           {"pipedream", {2, 1}}, {"pipedream", {2, 2}}, {"dp-bsp", {2}}}) {
    SCOPED_TRACE(system + ", " + text_of(replicas));
    const Case test = case_of("resnet", system, replicas, 1, 7);
    const auto exchange = std::make_shared<transport::HostLanesExchange>();
    const runtime::TestRun run = runtime::run_schedule(
        test.job(), test.schedule, test.extent, test.feed, [&](runtime::Channels channels) {
          channels.device_sums = transport::sum_by_lanes(
              channels.collectives, std::make_unique<transport::HostLanes>(exchange));
          return channels;
        });
    expect_same(run.weights, test.run().weights);
    EXPECT_GT(exchange->opened(), 0U);
  }
}

TEST(RuntimeReplicas, RecomputationChangesNoBit) {
  for (const auto& replicas : std::vector<std::vector<int>>{{2, 1}, {1, 3}}) {
    const Case test = case_of("resnet", "pipedream", replicas, 1, 11, true);
    expect_rule(test, round_robin(test.plan));
  }
}

TEST(RuntimeReplicas, FewerMinibatchesThanReplicasAverageOverThoseThereAre) {
  for (const std::int64_t minibatches : {1, 2}) {
    const Case test = case_of("mlp", "pipedream", {3, 1}, 1, minibatches);
    expect_rule(test, round_robin(test.plan));
    expect_rule(case_of("mlp", "dp-bsp", {3}, 1, minibatches),
                [](std::size_t, std::int64_t t) { return t / 3; });
  }
}

TEST(RuntimeReplicas, TwoBufferedPipelinesSideBySideUseTheWeightsOfOneUpdateBefore) {
  for (const std::string& name : networks({"mlp", "resnet", "gpt", "tied"}))
    for (const int width : all_or_last<int>({2, 3}))
      for (const int stages : {1, 2, 3})
        for (const std::int64_t minibatches : all_or_last<std::int64_t>({12, 13})) {
          SCOPED_TRACE(name + ", " + std::to_string(stages) + " × " + std::to_string(width) + ", " +
                       std::to_string(minibatches));
          const std::vector<int> replicas(static_cast<std::size_t>(stages), width);
          expect_rule(case_of(name, "2bw", replicas, 4, minibatches), one_update_behind(width));
        }
}

TEST(RuntimeReplicas, BulkSynchronousDataParallelismAveragesEveryRound) {
  for (const std::string& name : networks({"mlp", "resnet", "gnmt8", "gpt", "tied"}))
    for (const int width : all_or_last<int>({2, 3, 4}))
      for (const std::int64_t minibatches : all_or_last<std::int64_t>({12, 13})) {
        SCOPED_TRACE(name + ", " + std::to_string(width) + ", " + std::to_string(minibatches));
        expect_rule(case_of(name, "dp-bsp", {width}, 1, minibatches),
                    [width](std::size_t, std::int64_t t) { return t / width; });
      }
}

TEST(RuntimeReplicas, DappleSharesTheSamplesOfEveryMicrobatch) {
  const std::vector<std::vector<int>> plans{{2, 1}, {1, 2}, {2, 3},    {3, 2},
                                            {2, 2}, {3},    {1, 2, 1}, {2, 3, 1}};
  for (const std::string& name : networks({"mlp", "resnet", "gnmt8", "gpt", "tied"}))
    for (const auto& replicas : plans) {
      SCOPED_TRACE(name + ", " + text_of(replicas));
      expect_rule(case_of(name, "dapple", replicas, 2, 8), newest_weights());
    }
}

// Microbatches have one sample, so two of three replicas compute nothing. They still take part.
TEST(RuntimeReplicas, DappleWithFewerSamplesThanReplicas) {
  for (const auto& replicas : std::vector<std::vector<int>>{{3, 1}, {1, 3}, {2, 3}, {3, 2, 1}}) {
    SCOPED_TRACE(text_of(replicas));
    for (const std::string name : {"mlp", "tied"}) {
      (void)expect_bits(case_of(name, "dapple", replicas, 8, 4), newest_weights());
      (void)expect_bits(case_of(name, "dapple", replicas, 8, 4, true), newest_weights());
    }
  }
}

TEST(RuntimeReplicas, DappleWithAShortLastMinibatch) {
  for (const auto& replicas : std::vector<std::vector<int>>{{2, 1}, {2, 3}}) {
    SCOPED_TRACE(text_of(replicas));
    expect_rule(case_of("resnet", "dapple", replicas, 2, 5, false, 7, 2), newest_weights());
    expect_rule(case_of("gnmt8", "dapple", replicas, 2, 5, true, 3, 1), newest_weights());
    expect_rule(case_of("tied", "dapple", replicas, 2, 5, false, 7, 2), newest_weights());
  }
}

// The users of a value are scattered over stages with different numbers of replicas.
TEST(RuntimeReplicas, SharesOfSumsThatAreHandedOverApart) {
  for (const auto& replicas : std::vector<std::vector<int>>{{2, 1}, {2, 3}, {1, 2, 2}, {3, 2}})
    for (const std::uint32_t seed : all_or_last<std::uint32_t>({0, 1, 2, 3, 4, 5, 6, 7})) {
      SCOPED_TRACE(text_of(replicas) + ", seed " + std::to_string(seed));
      for (const std::string name : {"many uses", "tied"})
        for (const std::string system : {"dapple", "pipedream"}) {
          model::Network network = small_network(name);
          plan::Plan plan = cut_in_order(network, system, replicas);
          scatter_layers(network, seed, plan);
          const Case test(std::move(network), plan, {.minibatches = 7});
          expect_rule(test, system == "dapple" ? newest_weights() : round_robin(test.plan));
        }
    }
}

// The worker numbers of a stage need not be in ascending order.
TEST(RuntimeReplicas, WorkersMayStandInAnyOrder) {
  model::Network network = small_network("resnet");
  plan::Plan plan = cut_in_order(network, "pipedream", {3, 2});
  plan.stages[0].workers = {WorkerId{4}, WorkerId{0}, WorkerId{2}};
  plan.stages[1].workers = {WorkerId{3}, WorkerId{1}};
  const Case test(std::move(network), plan, {.minibatches = 14});
  expect_rule(test, round_robin(test.plan));
}

}  // namespace
}  // namespace pipedream::test
