// Data parallelism in all its forms: every exchange of gradients gives the expected bits and sends
// the expected number of bytes; asynchronous training.
#include <array>
#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "model/network_builder.h"
#include "runtime_cases_testing.h"
#include "transport/forwarding_testing.h"
#include "transport/peer_memory.h"

namespace pipedream::test {
namespace {

constexpr std::array kExchanges{Exchange::kRing, Exchange::kAllToAll, Exchange::kParameterServer};

// For tests that want two orders of summation to give other weights. Adding a small gradient to a
// weight rounds most differences away, so that after a few updates all bits may still be the same.
constexpr std::int64_t kManyMinibatches = 61;

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

// The workers are on two hosts alternately.
TEST(DataParallel, ARingOverSeveralHostsGivesTheBitsOfItsTwoLevels) {
  for (const std::string& name : networks({"mlp", "resnet", "gpt"})) {
    SCOPED_TRACE(name);
    Case all = data_parallel_case(name, "dp-bsp", {4}, kManyMinibatches);
    const runtime::Weights one_level = all.run().weights;
    all.averaging.way.host_of = {0, 1, 0, 1};
    expect_rule(all, [](std::size_t, std::int64_t t) { return t / 4; });
    EXPECT_FALSE(are_same(all.run().weights, one_level));
    Case stages = data_parallel_case(name, "dapple", {4, 2}, 4, 2);
    stages.averaging.way.host_of = {0, 1, 0, 1, 0, 1};
    expect_rule(stages, newest_weights());
  }
}

// With three replicas, exchanges sum in different orders, so their bits differ.
TEST(DataParallel, TheExchangesDifferInTheirBits) {
  Case ring = data_parallel_case("mlp", "dp-bsp", {3}, kManyMinibatches);
  Case shards = data_parallel_case("mlp", "dp-bsp", {3}, kManyMinibatches);
  shards.averaging.way.exchange = Exchange::kAllToAll;
  EXPECT_FALSE(are_same(ring.run().weights, shards.run().weights));
}

// Counts the bytes that workers send to each other. Its functions may be called from any thread.
class Wires {
 public:
  // Counts the channels for values, gradients and weights, but not those that control the run.
  [[nodiscard]] runtime::Equip tap() {
    return [this](const runtime::Channels& channels) {
      return runtime::Channels{tap(channels.values), tap(channels.collectives),
                               tap(channels.served), channels.control,
                               channels.news,        channels.saves,
                               channels.stops};
    };
  }
  // Bytes that all workers sent to other workers.
  [[nodiscard]] std::int64_t total() const {
    return between([](std::int32_t from, std::int32_t to) { return from != to; });
  }
  using Pairs = std::function<bool(std::int32_t from, std::int32_t to)>;
  [[nodiscard]] std::int64_t between(const Pairs& pairs) const {
    const std::lock_guard lock(mutex_);
    std::int64_t sum = 0;
    for (const auto& [ends, bytes] : bytes_)
      if (pairs(ends.first.value, ends.second.value)) sum += bytes;
    return sum;
  }

 private:
  // Counts what a worker reads of another's memory, as if it had come in a message.
  class TappedMemory final : public transport::PeerMemory {
   public:
    TappedMemory(const transport::PeerMemory& inner, WorkerId me, Wires& wires)
        : inner_(inner), me_(me), wires_(wires) {}
    bool can_read(WorkerId other) const override { return inner_.can_read(other); }
    transport::Message offer(std::span<const float> values,
                             std::shared_ptr<const void> owner) const override {
      return inner_.offer(values, std::move(owner));
    }
    std::span<const float> read(WorkerId from, const transport::Message& offer, std::size_t first,
                                std::span<float> into) const override {
      wires_.count(from, me_, into.size_bytes());
      return inner_.read(from, offer, first, into);
    }

   private:
    const transport::PeerMemory& inner_;
    WorkerId me_;
    Wires& wires_;
  };

  class Tap final : public transport::Forwarding {
   public:
    Tap(transport::Transport& inner, Wires& wires)
        : Forwarding(inner), wires_(wires), memory_(*inner.peer_memory(), inner.me(), wires) {}
    const transport::PeerMemory* peer_memory() const override { return &memory_; }
    void send(WorkerId to, int tag, transport::Message message) override {
      wires_.count(me(), to, message.bytes.size());
      Forwarding::send(to, tag, std::move(message));
    }

   private:
    Wires& wires_;
    TappedMemory memory_;
  };

  transport::Transport& tap(transport::Transport& channel) {
    const std::lock_guard lock(mutex_);
    return *taps_.emplace_back(std::make_unique<Tap>(channel, *this));
  }
  void count(WorkerId from, WorkerId to, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    bytes_[{from, to}] += static_cast<std::int64_t>(bytes);
  }

  mutable std::mutex mutex_;
  std::map<std::pair<WorkerId, WorkerId>, std::int64_t> bytes_;
  std::vector<std::unique_ptr<Tap>> taps_;
};

runtime::TestRun run_on(Wires& wires, const Case& test) {
  return runtime::run_schedule(test.job(), test.schedule, test.extent, test.feed, wires.tap());
}

// With m replicas and W bytes of weights, every exchange sends 2 (m − 1) W bytes per update. The
// number that the run reports is the number that was sent.
TEST(DataParallel, SendsExactlyWhatTheClosedFormSays) {
  for (const Exchange exchange : kExchanges)
    for (const int width : {2, 3, 4}) {
      Case test = data_parallel_case("mlp", "dp-bsp", {width}, 4 * width);
      test.averaging.way.exchange = exchange;
      Wires wires;
      const runtime::TestRun run = run_on(wires, test);
      EXPECT_EQ(bytes_sent(run), 4 * 2 * (width - 1) * weight_bytes(run));
      EXPECT_EQ(wires.total(), bytes_sent(run));
    }
}

TEST(DataParallel, PipelinesWithReplicasTellWhatTheySent) {
  for (const Exchange exchange : kExchanges) {
    Case test = data_parallel_case("resnet", "pipedream", {3, 2}, 12);
    test.averaging.way.exchange = exchange;
    Wires wires;
    const runtime::TestRun run = run_on(wires, test);
    EXPECT_GT(bytes_sent(run), 0);
    EXPECT_EQ(wires.total(), bytes_sent(run));
  }
}

// With k replicas on each of h hosts and W bytes of weights, all hosts together send 2 (h − 1) W
// bytes to other hosts, whatever k is. In one ring through all replicas, host by host, each host
// would send 2 (hk − 1)/(hk) W bytes to the next.
TEST(DataParallel, ARingOverSeveralHostsSendsBetweenThemWhatOneReplicaOnEachWould) {
  Case test = data_parallel_case("mlp", "dp-bsp", {4}, 4 * 3);
  test.averaging.way.host_of = {0, 0, 1, 1};
  Wires wires;
  const runtime::TestRun run = run_on(wires, test);
  EXPECT_EQ(wires.total(), 3 * 2 * 3 * weight_bytes(run));
  EXPECT_EQ(wires.between([](auto from, auto to) { return from / 2 != to / 2; }),
            3 * 2 * weight_bytes(run));
}

// A layer that calls `what` when the gradient of its output arrives.
model::Block when_backward_comes(std::function<void()> what) {
  return {.kind = "Watch",
          .infer = [](std::span<const model::TensorType> inputs) { return inputs[0]; },
          .forward =
              [what = std::move(what)](const model::Tensors& in, const model::Weights&,
                                       const model::Pass&) {
                at::Tensor out = in[0] * 1;
                if (out.requires_grad())
                  out.register_hook([what](const at::Tensor& gradient) {
                    what();
                    return gradient;
                  });
                return out;
              }};
}

// The backward of the first layer waits until gradients of the last layer have left the worker.
TEST(DataParallel, GradientsLeaveWhileTheBackwardRuns) {
  for (const std::string system : {"dp-bsp", "dp-asp"}) {
    SCOPED_TRACE(system);
    Wires wires;
    std::atomic<int> in_time = 0;
    const auto wait = [&] {
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (wires.total() == 0 && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (wires.total() > 0) ++in_time;
    };
    model::NetworkBuilder net("watched", kBatch);
    model::Wire x = net.input("features", {kBatch, 12}, at::kFloat);
    x = net.add("first", model::linear(12, 16), {x});
    x = net.add("watch", when_backward_comes(wait), {x});
    x = net.add("last", model::linear(16, 5), {x});
    const model::Wire labels = net.input("labels", {kBatch}, at::kLong, 5);
    model::Network network =
        std::move(net).build(net.add("loss", model::cross_entropy(), {x, labels}));
    const plan::Plan plan = cut_in_order(network, system, {2});
    const Case test(std::move(network), plan, {.minibatches = 2});
    (void)run_on(wires, test);
    EXPECT_EQ(in_time, 2) << "once on each worker";
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

TEST(AsynchronousDataParallel, ServersUseTheLearningRateOfEachMinibatch) {
  Case test = data_parallel_case("resnet", "dp-asp", {1}, 8);
  test.rate = changing_rate();
  expect_bits(test, newest_weights());
}

TEST(AsynchronousDataParallel, CountsHowFarTheWeightsHadMovedOn) {
  for (const int width : {2, 3}) {
    const Case test = data_parallel_case("mlp", "dp-asp", {width}, 10 * width);
    Wires wires;
    const runtime::TestRun run = run_on(wires, test);
    expect_programs(run, test.schedule, test.network, test.plan);
    for (const runtime::WorkerResult& worker : run.workers) {
      EXPECT_EQ(worker.lateness.count, 10 * width) << "every minibatch at every server";
      EXPECT_LE(worker.lateness.sum, worker.lateness.most * worker.lateness.count);
      EXPECT_LE(worker.lateness.most, 10 * (width - 1)) << "the others' minibatches";
    }
    EXPECT_EQ(bytes_sent(run), (10 * 2 + 1) * (width - 1) * weight_bytes(run))
        << "pushed and fetched by every minibatch, and fetched by all at the end";
    EXPECT_EQ(wires.total(), bytes_sent(run));
  }
}

// One worker is slowed down, so the other has long finished when it continues.
TEST(AsynchronousDataParallel, AllEndWithTheSameWeights) {
  const Case test = data_parallel_case("mlp", "dp-asp", {2}, 12);
  runtime::Job job = test.job();
  job.replicas = test.schedule.rules.traits.replicas;
  job.before_op = [](WorkerId me, const schedule::Op& op) {
    if (me == WorkerId{1} && std::holds_alternative<schedule::Forward>(op))
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  std::vector<model::Tensors> weights(2);
  runtime::run_on_threads(2, std::nullopt, [&](const runtime::Seat& seat) {
    runtime::Worker worker(job, seat.me, seat.channels, seat.clock, {});
    worker.run({test.schedule, test.extent, test.feed});
    for (const at::Tensor& each : worker.stages().at(StageId{0}).weights().newest_weights())
      weights[seat.me.index()].push_back(each.detach().clone());
  });
  ASSERT_EQ(weights[0].size(), weights[1].size());
  for (std::size_t i = 0; i < weights[0].size(); ++i)
    EXPECT_TRUE(at::equal(weights[0][i], weights[1][i])) << "parameter " << i;
}

// A worker that stops lets the other continue, and what it pushes afterwards is stale. It stops
// before its backward, because gradients leave during the backward.
TEST(AsynchronousDataParallel, NobodyWaitsForASlowWorker) {
  const Case test = data_parallel_case("mlp", "dp-asp", {2}, 20);
  runtime::Job job = make_job(test.network, test.plan);
  std::promise<void> done;  // set by the fast worker
  job.before_op = [&, ends = 0](WorkerId me, const schedule::Op& op) mutable {
    if (me == WorkerId{1} && std::holds_alternative<schedule::Pull>(op) && ++ends == 10)
      done.set_value();
    if (me == WorkerId{0} && op == schedule::Op(schedule::Backward{StageId{0}, {0, 0}, {0}}))
      done.get_future().wait_for(std::chrono::seconds(20));
  };
  const runtime::TestRun run = runtime::run_schedule(job, test.schedule, test.extent, test.feed);
  EXPECT_GE(run.workers[0].lateness.most, 9) << "those that the fast worker saw answered";
}

// Over the whole epoch the slow worker falls behind by more than `patience`, but it always makes
// progress.
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
    std::vector<std::string> state_names() const override { return {}; }
    runtime::OptimiserState state(std::size_t) const override { return {}; }
    void set_state(std::size_t, const runtime::OptimiserState&, const at::Tensor&) override {}
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
