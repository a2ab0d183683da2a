// Data parallelism in all its forms: every exchange of gradients bit for bit, what it sends to the
// byte, and asynchronous training.
#include <array>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "runtime_cases_testing.h"

namespace pipedream::test {
namespace {

constexpr std::array kExchanges{Exchange::kRing, Exchange::kAllToAll, Exchange::kParameterServer};

Case data_parallel_case(const std::string& name, const std::string& system,
                        const std::vector<int>& replicas, std::int64_t minibatches,
                        int microbatches = 1) {
  model::Network network = small_network(name);
  plan::Plan plan = cut_in_order(network, system, replicas);
  plan.microbatches = microbatches;
  return {std::move(network), std::move(plan), {.minibatches = minibatches}};
}

std::int64_t weight_bytes(const runtime::TestRun& run) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : run.weights.parameters)
    bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

std::int64_t bytes_sent(const runtime::TestRun& run) {
  std::int64_t bytes = 0;
  for (const runtime::WorkerResult& worker : run.workers) bytes += worker.sent.count;
  return bytes;
}

TEST(DataParallel, EveryExchangeGivesTheBitsOfItsOrderOfSummation) {
  for (const Exchange exchange : kExchanges)
    for (const std::string& name : networks({"mlp", "resnet", "gpt", "tied"}))
      for (const int width : {2, 3, 4}) {
        SCOPED_TRACE(name + ", " + std::to_string(width) + ", " +
                     exchange_names()[static_cast<std::size_t>(exchange)]);
        Case test = data_parallel_case(name, "dp-bsp", {width}, 13);
        test.averaging.way.exchange = exchange;
        expect_rule(test, [width](std::size_t, std::int64_t t) { return t / width; });
      }
}

TEST(DataParallel, ReplicatedStagesExchangeLikewise) {
  for (const Exchange exchange : kExchanges) {
    Case turns = data_parallel_case("resnet", "pipedream", {3, 2}, 14);
    turns.averaging.way.exchange = exchange;
    const auto plan = turns.plan;
    expect_rule(turns, [plan](std::size_t s, std::int64_t t) {
      return t / static_cast<std::int64_t>(plan.stages[s].workers.size()) - plan.stages[s].depth;
    });
    Case together = data_parallel_case("gnmt8", "dapple", {2, 3}, 6, 2);
    together.averaging.way.exchange = exchange;
    expect_rule(together, newest_weights());
    Case side_by_side = data_parallel_case("gpt", "2bw", {2, 2}, 9, 4);
    side_by_side.averaging.way.exchange = exchange;
    expect_rule(side_by_side, one_update_behind(2));
  }
}

// Three replicas: the orders of summation differ, and so do the bits.
TEST(DataParallel, TheExchangesDifferInTheirBits) {
  Case ring = data_parallel_case("mlp", "dp-bsp", {3}, 12);
  Case shards = data_parallel_case("mlp", "dp-bsp", {3}, 12);
  shards.averaging.way.exchange = Exchange::kAllToAll;
  EXPECT_FALSE(are_same(ring.run().weights, shards.run().weights));
}

// 2 (m − 1) W for every update, whatever the exchange.
TEST(DataParallel, SendsExactlyWhatTheClosedFormSays) {
  for (const Exchange exchange : kExchanges)
    for (const int width : {2, 3, 4}) {
      Case test = data_parallel_case("mlp", "dp-bsp", {width}, 4 * width);
      test.averaging.way.exchange = exchange;
      const runtime::TestRun run = test.run();
      EXPECT_EQ(bytes_sent(run), 4 * 2 * (width - 1) * weight_bytes(run));
    }
}

TEST(DataParallel, OneBucketOrManyGiveTheSameBitsForTwoReplicas) {
  Case many = data_parallel_case("resnet", "dp-bsp", {2}, 8);
  Case one = data_parallel_case("resnet", "dp-bsp", {2}, 8);
  one.averaging.buckets = {};
  EXPECT_TRUE(are_same(many.run().weights, one.run().weights)) << "of two, any order is the same";
}

TEST(AsynchronousDataParallel, OfOneWorkerIsPlainTraining) {
  for (const std::string& name : networks({"mlp", "resnet", "gnmt8", "gpt", "tied"})) {
    SCOPED_TRACE(name);
    const Case test = data_parallel_case(name, "dp-asp", {1}, 12);
    const runtime::TestRun run = expect_bits(test, newest_weights());
    EXPECT_EQ(run.workers[0].lateness.most, 0);
    EXPECT_EQ(run.workers[0].lateness.count, 12);
    EXPECT_EQ(bytes_sent(run), 0);
  }
}

TEST(AsynchronousDataParallel, CountsHowFarTheWeightsHadMovedOn) {
  for (const int width : {2, 3}) {
    const Case test = data_parallel_case("mlp", "dp-asp", {width}, 10 * width);
    const runtime::TestRun run = test.run();
    expect_programs(run, test.schedule, test.network, test.plan);
    for (const runtime::WorkerResult& worker : run.workers) {
      EXPECT_EQ(worker.lateness.count, 10 * width) << "every minibatch at every server";
      EXPECT_GE(worker.lateness.most, 0);
      EXPECT_LE(worker.lateness.most, 10 * (width - 1)) << "the others' minibatches";
    }
    EXPECT_EQ(bytes_sent(run), 10 * 2 * (width - 1) * weight_bytes(run));
  }
}

// A worker that stands still lets the others go on, and what it then pushes is late.
TEST(AsynchronousDataParallel, NobodyWaitsForASlowWorker) {
  const Case test = data_parallel_case("mlp", "dp-asp", {2}, 20);
  runtime::Job job = make_job(test.network, test.plan);
  std::promise<void> done;  // by the fast worker
  job.before_op = [&, ends = 0](WorkerId me, const schedule::Op& op) mutable {
    if (me == WorkerId{1} && std::holds_alternative<schedule::Pull>(op) && ++ends == 10)
      done.set_value();
    if (me == WorkerId{0} && op == schedule::Op(schedule::Push{StageId{0}, {0, 0}}))
      done.get_future().wait_for(std::chrono::seconds(20));
  };
  const runtime::TestRun run = runtime::run_schedule(job, test.schedule, test.extent, test.feed);
  EXPECT_GE(run.workers[0].lateness.most, 9);
}

// Its lag over the whole epoch is longer than the others have patience for a sign of life.
TEST(AsynchronousDataParallel, AWorkerThatGoesOnIsNotLostHoweverFarBehind) {
  const Case test = data_parallel_case("mlp", "dp-asp", {2}, 16);
  runtime::Job job = make_job(test.network, test.plan);
  job.patience = std::chrono::milliseconds(1000);
  job.before_op = [&](WorkerId me, const schedule::Op& op) {
    if (me == WorkerId{1} && std::holds_alternative<schedule::Forward>(op))
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
  };
  EXPECT_NO_THROW((void)runtime::run_schedule(job, test.schedule, test.extent, test.feed));
}

TEST(AsynchronousDataParallel, AFailureOfAServerIsTold) {
  class Broken final : public runtime::Optimiser {
    void step(const runtime::ParameterStep&) override {
      throw IoError("the server's disk is full");
    }
  };
  const Case test = data_parallel_case("mlp", "dp-asp", {2}, 6);
  runtime::Job job = make_job(test.network, test.plan);
  job.make_optimiser = [] { return std::make_unique<Broken>(); };
  EXPECT_NE(message_of<IoError>([&] {
              (void)runtime::run_schedule(job, test.schedule, test.extent, test.feed);
            }).find("the server's disk is full"),
            std::string::npos);
}

}  // namespace
}  // namespace pipedream::test
