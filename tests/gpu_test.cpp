// Training on a GPU: every system gives the bits of its rule on the device, and nearly the results
// of the CPU. Runs where libtorch finds a GPU; elsewhere each test is skipped with a message.
#include <atomic>
#include <cstdlib>
#include <deque>

#include <gtest/gtest.h>

#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "core/error.h"
#include "core/testing.h"
#include "model/device.h"
#include "model/network_builder.h"
#include "model/random.h"
#include "runtime/tensor_message.h"
#include "runtime_cases_testing.h"
#include "train/optimiser_options.h"
#include "train/resume_testing.h"
#include "transport/forwarding_testing.h"

namespace pipedream::test {
namespace {

const at::Device kGpu(at::kCUDA, 0);

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!at::globalContext().hasCUDA()) GTEST_SKIP() << "no GPU found by libtorch: left out";
    // Deterministic algorithms sum in a fixed order and use the same kernels every time.
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
    at::globalContext().setDeterministicCuDNN(true);
    at::globalContext().setBenchmarkCuDNN(false);
  }
};

// cuBLAS is deterministic only with a fixed workspace. It reads this variable when it is first
// used.
const int kFixedWorkspace = setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);

struct Wanted {
  std::string system;
  std::vector<int> replicas;
  int microbatches;
  Rule rule;
};

const std::vector<Wanted>& all_systems() {
  static const std::vector<Wanted> wanted{
      {"mp", {1, 1}, 1, newest_weights()},
      {"gpipe", {1, 1, 1}, 4, newest_weights()},
      {"torchgpipe", {1, 1, 1}, 4, newest_weights()},
      {"dapple", {1, 1}, 4, newest_weights()},
      {"dapple", {2, 1}, 2, newest_weights()},
      {"pipedream", {1, 1, 1}, 1, weight_stashing(3)},
      {"2bw", {1, 1}, 4, one_update_behind()},
      {"dp-bsp", {2}, 1, [](std::size_t, std::int64_t t) { return t / 2; }},
      {"dp-bsp", {3}, 1, [](std::size_t, std::int64_t t) { return t / 3; }},
      {"dp-asp", {1}, 1, newest_weights()}};
  return wanted;
}

Case case_of(const Wanted& wanted, model::Network network, std::int64_t minibatches) {
  plan::Plan plan = cut_in_order(network, wanted.system, wanted.replicas);
  plan.microbatches = wanted.microbatches;
  Case test(std::move(network), std::move(plan), {.minibatches = minibatches});
  test.device = kGpu;
  return test;
}
Case case_of(const Wanted& wanted, const std::string& name, std::int64_t minibatches = 9) {
  return case_of(wanted, small_network(name), minibatches);
}

// A network without dropout. A GPU has other random numbers than the CPU, and in bfloat16 others
// than in float.
model::Network without_dropout(const std::string& name) {
  if (name == "resnet") return small_resnet(/*dropout=*/0);
  if (name == "mlp") return small_network(name);
  std::map<std::string, std::string> sizes{{"hidden", "8"}, {"vocabulary", "13"}, {"dropout", "0"}};
  if (name == "gpt")
    sizes.merge(std::map<std::string, std::string>{{"layers", "3"}, {"heads", "2"}});
  return from_zoo(name, sizes);
}

std::string title(const Wanted& wanted, const std::string& name) {
  std::string text = name + ", " + wanted.system;
  for (const int replicas : wanted.replicas) text += " " + std::to_string(replicas);
  return text;
}

TEST_F(Gpu, EverySystemGivesTheBitsOfItsRule) {
  for (const Wanted& wanted : all_systems())
    for (const std::string name : {"mlp", "resnet", "gpt"}) {
      SCOPED_TRACE(title(wanted, name));
      if (wanted.system == "dp-asp") continue;  // its parameter servers compute on the CPU
      (void)expect_bits(case_of(wanted, name), wanted.rule);
    }
}

TEST_F(Gpu, DropoutDependsOnItsKeyAloneAndScalesTheGradientAlike) {
  at::Tensor x = at::ones({100, 100}, at::TensorOptions().device(kGpu)).requires_grad_();
  model::Pass pass;
  pass.random = {.seed = 1, .layer = 2, .minibatch = 3};
  const at::Tensor once = model::dropout(x, 0.25, pass);
  EXPECT_TRUE(at::equal(once, model::dropout(x, 0.25, pass)));
  EXPECT_NEAR(once.mean().item<double>(), 1, 0.03);
  EXPECT_NEAR((once == 0).to(at::kFloat).mean().item<double>(), 0.25, 0.03);
  once.sum().backward();
  EXPECT_TRUE(at::equal(x.grad(), once));
  pass.random.minibatch = 4;
  EXPECT_FALSE(at::equal(once, model::dropout(x, 0.25, pass)));
  EXPECT_TRUE(at::equal(model::dropout(x, 1, pass), at::zeros_like(x)));
}

TEST_F(Gpu, ReplicatedStagesGiveTheBitsOfTheirRule) {
  for (const std::vector<int>& replicas : {std::vector{2, 1}, {1, 2}, {2, 2}}) {
    const Wanted wanted{"pipedream", replicas, 1, {}};
    SCOPED_TRACE(title(wanted, "resnet"));
    const Case test = case_of(wanted, "resnet");
    (void)expect_bits(test, round_robin(test.plan));
  }
}

TEST_F(Gpu, StagesThatShareWorkersGiveTheBitsOfTheirRule) {
  for (const std::string name : {"resnet", "gpt"}) {
    SCOPED_TRACE(name);
    model::Network network = small_network(name);
    plan::Plan plan = cut_straight(network, "interleaved", 4);
    deal_out(plan, 2);
    plan.microbatches = 4;
    Case test(std::move(network), std::move(plan), {.minibatches = 5});
    test.device = kGpu;
    (void)expect_bits(test, newest_weights());
  }
}

// A transport that takes only host memory, like the one between processes without NCCL.
class HostMemoryOnly final : public transport::Forwarding {
 public:
  using Forwarding::Forwarding;
  bool takes_device_memory() const override { return false; }
  void send(WorkerId to, int tag, transport::Message message) override {
    EXPECT_FALSE(message.on_device);
    transport::wait_until(message.is_ready);
    Forwarding::send(to, tag, std::move(message));
  }
};

TEST_F(Gpu, ValuesByWayOfTheHostGiveTheSameBits) {
  for (const std::string name : {"resnet", "gpt", "gnmt8", "tied"})
    for (const auto precision : {model::Precision::kFloat, model::Precision::kBfloat16}) {
      SCOPED_TRACE(name + std::string(", ") + model::to_text(precision));
      const Case test = case_of({"pipedream", {1, 1, 1}, 1, {}}, name);
      runtime::Job job = test.job();
      job.precision = precision;
      const auto direct = runtime::run_schedule(job, test.schedule, test.extent, test.feed);
      std::mutex mutex;
      std::deque<HostMemoryOnly> ways;
      const auto by_host = [&](const runtime::Channels& given) {
        const std::lock_guard lock(mutex);
        return runtime::Channels{ways.emplace_back(given.values),
                                 given.collectives,
                                 given.served,
                                 given.control,
                                 given.news,
                                 given.saves,
                                 given.stops};
      };
      const auto run = runtime::run_schedule(job, test.schedule, test.extent, test.feed, by_host);
      expect_same(run.weights, direct.weights);
      EXPECT_EQ(ways.size(), 3U);
    }
}

TEST_F(Gpu, AgreesWithTheCpu) {
  for (const Wanted& wanted : all_systems())
    for (const std::string name : {"mlp", "gnmt8", "gpt"}) {
      SCOPED_TRACE(title(wanted, name));
      Case test = case_of(wanted, without_dropout(name), 5);
      const runtime::Weights found = test.run().weights;
      test.device = at::kCPU;
      for (const auto& [parameter, wanted_value] : test.trained_by(wanted.rule).parameters)
        EXPECT_TRUE(at::allclose(found.parameters.at(parameter), wanted_value, 1e-2, 1e-4))
            << parameter;
    }
}

TEST_F(Gpu, PartitionsChangeNoBit) {
  for (const std::string name : {"resnet", "gpt", "many uses", "tied"}) {
    std::optional<runtime::Weights> whole;
    for (const std::vector<int>& replicas : {std::vector{1}, {1, 1}, {1, 1, 1}, {1, 1, 1, 1}}) {
      SCOPED_TRACE(name + std::string(", stages: ") + std::to_string(replicas.size()));
      const runtime::Weights weights = case_of({"gpipe", replicas, 2, {}}, name).run().weights;
      if (!whole) whole = weights;
      expect_same(weights, *whole);
    }
  }
}

TEST_F(Gpu, EventsAreTimedOnTheDevice) {
  const Case test = case_of({"gpipe", {1, 1}, 2, {}}, "resnet");
  const runtime::TestRun run = test.run();
  for (const runtime::WorkerResult& worker : run.workers) {
    Nanos last{0};
    int computed = 0;
    for (const timeline::Event& event : worker.events) {
      EXPECT_LE(event.start, event.end);
      if (!timeline::on_compute_lane(event.op)) continue;
      EXPECT_GE(event.start, last) << "one stream does one thing after another";
      last = event.end;
      ++computed;
    }
    EXPECT_GT(computed, 9);
  }
}

// A network with a layer that gives the GPU much work with few calls. `calls_took` gets the time of
// these calls in nanoseconds.
model::Network heavy_network(std::atomic<std::int64_t>& calls_took) {
  model::NetworkBuilder net("heavy", kBatch);
  model::Wire x = net.input("features", {kBatch, 12}, at::kFloat);
  x = net.add("first", model::linear(12, 5), {x});
  x = net.add("heavy",
              {.kind = "Heavy",
               .infer = [](std::span<const model::TensorType> inputs) { return inputs[0]; },
               .forward =
                   [&](const model::Tensors& in, const model::Weights&, const model::Pass&) {
                     const auto begin = std::chrono::steady_clock::now();
                     at::Tensor square = at::zeros({4096, 4096}, in[0].options());
                     for (int i = 0; i < 20; ++i) square = square.mm(square);
                     calls_took = Nanos(std::chrono::steady_clock::now() - begin).count();
                     return in[0] + square[0][0];
                   }},
              {x});
  const model::Wire labels = net.input("labels", {kBatch}, at::kLong, 5);
  return std::move(net).build(net.add("loss", model::cross_entropy(), {x, labels}));
}

// The layer keeps the GPU busy for tens of milliseconds; its calls take microseconds on the CPU.
TEST_F(Gpu, AnEventLastsAsLongAsTheDeviceComputesNotAsLongAsItsCpuCalls) {
  std::atomic<std::int64_t> calls_took = 0;  // in the last forward
  const Case test = case_of({"mp", {1}, 1, {}}, heavy_network(calls_took), 4);
  const runtime::TestRun run = test.run();
  Nanos last_forward{0};
  for (const timeline::Event& event : run.workers[0].events)
    if (std::holds_alternative<schedule::Forward>(event.op)) last_forward = event.end - event.start;
  EXPECT_GT(last_forward, std::chrono::milliseconds(10)) << "3 TFLOP";
  EXPECT_GT(last_forward.count(), 2 * calls_took);
}

// On a GPU, losses arrive up to eight minibatches after they are computed.
TEST_F(Gpu, ALossThatIsNotFiniteIsToldWithItsMinibatch) {
  Case test = case_of({"pipedream", {1, 1}, 1, {}}, "mlp", 30);
  const auto told = [&](at::Device device) {
    test.device = device;
    runtime::Job job = test.job();
    job.make_optimiser = [] { return train::make_optimiser({.learning_rate = 1e30}); };
    const std::string message = message_of<TrainingStopped>(
        [&] { (void)runtime::run_schedule(job, test.schedule, test.extent, test.feed); });
    const std::size_t begin = message.find("the loss of minibatch ");
    return begin == std::string::npos ? message
                                      : message.substr(begin, message.find(" is ", begin) - begin);
  };
  const std::string on_gpu = told(kGpu);
  EXPECT_EQ(on_gpu.find("the loss of minibatch "), 0U) << on_gpu;
  EXPECT_EQ(on_gpu, told(at::kCPU)) << "where nothing is late";
}

TEST_F(Gpu, MessagesCarryDeviceMemoryWithoutACopyAndHostCopiesTheSameNumbers) {
  const at::Tensor sent = at::randn({4, 3, 5, 5}, kGpu);
  const at::Tensor received = runtime::to_tensor(runtime::to_message(sent));
  EXPECT_EQ(received.const_data_ptr(), sent.const_data_ptr());
  EXPECT_TRUE(at::equal(received, sent));
  const runtime::HostCopies copies(kGpu);
  for (const at::Tensor& each : {sent, sent.contiguous(at::MemoryFormat::ChannelsLast),
                                 sent.transpose(0, 2), sent[0][0][0]}) {
    const runtime::HostCopies::Copy copy = copies.to_host(each);
    const at::Tensor there = runtime::to_tensor(runtime::to_message(copy));
    EXPECT_TRUE(there.is_cpu());
    EXPECT_TRUE(at::equal(there, each.cpu()));
    EXPECT_TRUE(at::equal(copies.to_device(there), each));
  }
}

TEST_F(Gpu, OptimisersStepAllAtOnceAsOneByOne) {
  using train::OptimiserKind;
  for (const OptimiserKind kind : {OptimiserKind::kSgd, OptimiserKind::kMomentum,
                                   OptimiserKind::kAdam, OptimiserKind::kAdamW}) {
    SCOPED_TRACE(train::to_text(kind));
    const train::OptimiserOptions options{.kind = kind, .learning_rate = 0.01, .weight_decay = 0.1};
    const auto fused = train::make_optimiser(options);
    const auto plain = train::make_optimiser(options);
    const double divisor = fused->divides() ? 3 : 1;
    std::vector<at::Tensor> ours{at::randn({300, 7}, kGpu), at::randn({5}, kGpu)};
    std::vector<at::Tensor> theirs{ours[0].cpu(), ours[1].cpu()};
    for (int step = 0; step < 5; ++step) {
      std::vector<runtime::ParameterStep> steps;
      for (std::size_t i = 0; i < ours.size(); ++i) {
        const at::Tensor gradient = at::randn_like(ours[i]);
        plain->step({i, theirs[i], gradient.cpu(), theirs[i], divisor});
        // Steps alternate between updating in place and writing a new weight version.
        steps.push_back(
            {i, ours[i], gradient, step % 2 == 0 ? ours[i] : at::empty_like(ours[i]), divisor});
      }
      if (step == 2)  // one parameter at a time must give the same
        for (const runtime::ParameterStep& each : steps) fused->step(each);
      else
        fused->step_all(steps);
      for (std::size_t i = 0; i < ours.size(); ++i) {
        ours[i] = steps[i].to;
        EXPECT_TRUE(at::allclose(ours[i].cpu(), theirs[i], 1e-4, 1e-5)) << "step " << step;
      }
    }
  }
}

TEST_F(Gpu, Bfloat16LearnsAsFloatDoes) {
  for (const std::string name : {"resnet", "gpt"}) {
    SCOPED_TRACE(name);
    const Case test = case_of({"gpipe", {1, 1}, 2, {}}, without_dropout(name), 9);
    runtime::Job job = test.job();
    const auto plain = runtime::run_schedule(job, test.schedule, test.extent, test.feed);
    job.precision = model::Precision::kBfloat16;
    const auto coarse = runtime::run_schedule(job, test.schedule, test.extent, test.feed);
    EXPECT_FALSE(are_same(plain.weights, coarse.weights));
    for (const auto& [minibatch, loss] : plain.losses)
      EXPECT_NEAR(coarse.losses.at(minibatch), loss, 0.05 * std::abs(loss)) << minibatch;
  }
}

// The state that is loaded is that of the GPU, bit for bit, on GPUs and on CPUs.
TEST_F(Gpu, CheckpointsHaveTheStateOfTheDevice) {
  using train::PlanCase;
  const std::vector<PlanCase> cases{{"straight", "pipedream", {1, 1}},
                                    {"replicated", "dapple", {2, 1}, 2},
                                    {"asynchronous", "dp-asp", {2}}};
  for (const PlanCase& of : cases) {
    SCOPED_TRACE(of.name);
    const train::Training first(of, kGpu);
    const train::TrainingOutcome outcome = first.run(first.recipe(20));
    EXPECT_FALSE(outcome.unsaved.has_value());
    const std::int64_t step = train::steps_in(first.folder()).back();
    for (const at::Device device : {kGpu, at::Device(at::kCPU)}) {
      const train::Training loaded(of, device);
      const auto same = loaded.resume(first.folder() / checkpoint::folder_name(step), step);
      train::expect_same_weights(same.weights, outcome.weights);
    }
    const train::Training longer(of, kGpu);
    EXPECT_GE(
        longer.resume(first.folder() / checkpoint::folder_name(step), 40).measured.minibatches, 40);
  }
}

// Tensors in the channels-last layout pass between the stages.
TEST_F(Gpu, PartitionsChangeNoBitOfBfloat16) {
  std::optional<runtime::Weights> whole;
  for (const std::vector<int>& replicas : {std::vector{1}, {1, 1}, {1, 1, 1}}) {
    const Case test = case_of({"gpipe", replicas, 2, {}}, "resnet");
    runtime::Job job = test.job();
    job.precision = model::Precision::kBfloat16;
    const auto run = runtime::run_schedule(job, test.schedule, test.extent, test.feed);
    if (!whole) whole = run.weights;
    expect_same(run.weights, *whole);
  }
}

}  // namespace
}  // namespace pipedream::test
