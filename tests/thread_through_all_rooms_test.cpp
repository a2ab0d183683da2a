// One example goes through all parts of the program: a network, a hand-made plan, and a schedule
// that is lowered, validated, simulated, and trained on threads. At the end every weight has the
// bits that the update rule of weight stashing gives.
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include "core/error.h"
#include "core/testing.h"
#include "model/zoo.h"
#include "runtime/run_testing.h"
#include "schedule/lower.h"
#include "schedule/schedule_testing.h"
#include "schedule/validate.h"
#include "simulate/simulate.h"
#include "train/sgd.h"

namespace pipedream {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr std::int64_t kMinibatches = 20;
constexpr std::int64_t kLinearLayers = 4;
constexpr train::SgdOptions kSgd{.learning_rate = 0.05, .momentum = 0.9};

model::Network make_network() {
  const auto& entry = model::zoo_entry("mlp");
  const model::Options options(
      entry.options, {{"inputs", "12"}, {"hidden", "16"}, {"layers", "4"}, {"classes", "5"}});
  return entry.make(options, 8);
}

// The stage of linear layer number `k` of four (from 0) and of its ReLU: k·stages/4.
std::size_t stage_of_linear(std::int64_t k, std::int64_t stages) {
  return static_cast<std::size_t>(k * stages / kLinearLayers);
}

plan::Plan make_plan(const model::Network& network, std::int64_t stages) {
  plan::Plan plan;
  plan.stages.resize(static_cast<std::size_t>(stages));
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    plan.stages[s].workers = {id_at<WorkerId>(s)};
    plan.stages[s].depth = static_cast<int>(plan.stages.size() - s);
  }
  const auto add = [&](const std::string& name, std::size_t stage) {
    plan.stages[stage].layers.push_back(network.graph.find(name).value());
  };
  for (std::int64_t k = 0; k < kLinearLayers; ++k) {
    const std::string number = std::to_string(k + 1);
    add("fc" + number, stage_of_linear(k, stages));
    if (k + 1 < kLinearLayers) add("relu" + number, stage_of_linear(k, stages));
  }
  add("loss", plan.stages.size() - 1);
  return plan;
}

runtime::Job make_job(const model::Network& network, const plan::Plan& plan) {
  runtime::Job job{.network = network, .plan = plan, .seed = kSeed};
  job.keep_timeline = true;
  job.make_optimiser = [] { return std::make_unique<train::Sgd>(kSgd); };
  return job;
}

// The weights that weight stashing gives: w(t+1) = w(t) − v·∇f(w_1(t−n+1), …, w_n(t)), where
// negative versions mean 0, here with momentum. Plain libtorch on one thread; all weight versions
// are kept.
std::map<std::string, at::Tensor> reference(const model::Network& network, std::int64_t stages) {
  std::vector<std::vector<at::Tensor>>
      history;  // by weight version: weight and bias of each linear layer
  std::vector<at::Tensor> velocity(2 * kLinearLayers);
  history.emplace_back();
  for (std::int64_t k = 1; k <= kLinearLayers; ++k) {
    const LayerId id = network.graph.find("fc" + std::to_string(k)).value();
    const auto layer = make_layer(network, id, kSeed, at::kCPU);
    for (const at::Tensor& initial : layer->parameters()) history[0].push_back(initial.detach());
  }
  for (std::int64_t t = 0; t < kMinibatches; ++t) {
    std::vector<at::Tensor> used;
    at::Tensor x = model::sample_input(network.inputs[0], kSeed, t);
    for (std::int64_t k = 0; k < kLinearLayers; ++k) {
      const auto behind = stages - 1 - static_cast<std::int64_t>(stage_of_linear(k, stages));
      const auto& version =
          history[static_cast<std::size_t>(std::max<std::int64_t>(0, t - behind))];
      for (std::size_t i = 0; i < 2; ++i)
        used.push_back(
            version[2 * static_cast<std::size_t>(k) + i].detach().clone().requires_grad_());
      x = at::linear(x, used[used.size() - 2], used.back());
      if (k + 1 < kLinearLayers) x = at::relu(x);
    }
    at::cross_entropy_loss(x, model::sample_input(network.inputs[1], kSeed, t)).backward();
    history.push_back({});
    for (std::size_t i = 0; i < used.size(); ++i) {
      velocity[i] =
          velocity[i].defined() ? velocity[i] * kSgd.momentum + used[i].grad() : used[i].grad();
      history.back().push_back(
          history[static_cast<std::size_t>(t)][i].add(velocity[i], -kSgd.learning_rate));
    }
  }
  std::map<std::string, at::Tensor> weights;
  for (std::size_t k = 0; k < kLinearLayers; ++k) {
    weights["fc" + std::to_string(k + 1) + ".weight"] = history.back()[2 * k];
    weights["fc" + std::to_string(k + 1) + ".bias"] = history.back()[2 * k + 1];
  }
  return weights;
}

class ThreadThroughAllRooms : public testing::TestWithParam<std::int64_t> {
 protected:
  const std::int64_t stages = GetParam();
  const model::Network network = make_network();
  const plan::Plan plan = make_plan(network, stages);
  const schedule::Extent extent = schedule::whole_minibatches(plan, kMinibatches);
  const schedule::Schedule schedule = schedule::one_f_one_b(plan, extent);
  const runtime::SampleFeed feed{network, extent, kSeed};
  const std::vector<schedule::Program> programs = schedule::lower(schedule, plan, network.graph);

  [[nodiscard]] runtime::TestRun run() const {
    return runtime::run_schedule(make_job(network, plan), schedule, extent, feed);
  }
};

TEST_P(ThreadThroughAllRooms, TheScheduleIsValid) {
  for (const schedule::Violation& v :
       schedule::validate(programs, schedule.rules, plan, network.graph))
    ADD_FAILURE() << "worker " << v.worker.value << ", op " << v.op_index << ": " << v.what;
}

TEST_P(ThreadThroughAllRooms, TrainingOnThreadsGivesTheBitsOfTheUpdateRule) {
  const auto trained = run();
  const auto expected = reference(network, stages);
  ASSERT_EQ(trained.weights.parameters.size(), expected.size());
  for (const auto& [name, tensor] : expected)
    EXPECT_TRUE(at::equal(trained.weights.parameters.at(name), tensor)) << name << " differs";
  EXPECT_EQ(trained.losses.size(), static_cast<std::size_t>(kMinibatches));
}

TEST_P(ThreadThroughAllRooms, OnlyItsOwnRuleGivesThoseBits) {
  const auto trained = run();
  const auto other_rule = reference(network, stages == 2 ? 1 : stages - 1);
  bool all_equal = true;
  for (const auto& [name, tensor] : other_rule)
    all_equal = all_equal && at::equal(trained.weights.parameters.at(name), tensor);
  EXPECT_FALSE(all_equal) << "the comparison cannot tell one rule from another";
}

TEST_P(ThreadThroughAllRooms, PeaksAreThoseOfTheClosedForm) {
  const auto trained = run();
  for (std::int64_t s = 0; s < stages; ++s) {
    const auto id = id_at<StageId>(static_cast<std::size_t>(s));
    EXPECT_EQ(trained.peaks(plan.stage(id).workers.front(), id),
              (runtime::StagePeaks{id, stages - s, stages - s}));
  }
}

// The ops of the compute lane. It makes no difference to the simulator where a receive is posted,
// so receives are not compared.
std::vector<schedule::Op> compute_ops(std::vector<schedule::Op> ops) {
  std::erase_if(ops, [](const schedule::Op& op) { return !timeline::on_compute_lane(op); });
  return ops;
}

// Simulator and runtime both record every op in the order of the program.
TEST_P(ThreadThroughAllRooms, SimulatorAndRuntimeRunTheSameOps) {
  profile::Profile profile{.graph = network.graph,
                           .costs = std::vector<profile::LayerCost>(network.graph.layers().size())};
  for (const plan::Stage& stage : plan.stages) {
    profile.costs[stage.layers[0].index()].forward = Nanos(1000);
    profile.costs[stage.layers[0].index()].backward = Nanos(2000);
  }
  const cluster::Cluster cluster{
      "test",
      {{.name = "machine", .count = static_cast<int>(stages), .bandwidth = {1e18}}},
      std::vector<cluster::Device>(static_cast<std::size_t>(stages))};
  const timeline::Timeline simulated = simulate::timeline_of(schedule, plan, profile, cluster);
  const auto measured = run();
  for (const schedule::Program& program : programs) {
    const std::vector<schedule::Op> ops = timeline::ops_of(simulated, program.worker);
    EXPECT_EQ(ops.size(), program.ops.size());
    EXPECT_EQ(compute_ops(ops), compute_ops(program.ops));
    EXPECT_EQ(measured.ops(program.worker), program.ops);
  }
  // With equal stages and free transfers the pipeline takes N + n − 1 steps of F + B.
  EXPECT_EQ(timeline::length(simulated), Nanos(3000) * (kMinibatches + stages - 1));
}

TEST_P(ThreadThroughAllRooms, AFailureInAnyWorkerEndsTheRunWithItsPlace) {
  for (std::int64_t failing = 0; failing < kMinibatches; failing += 7) {
    auto job = make_job(network, plan);
    job.before_op = [&](WorkerId, const schedule::Op& op) {
      const auto* load = std::get_if<schedule::Load>(&op);
      if (load != nullptr && load->stage.value == stages - 1 && load->item.minibatch == failing)
        throw std::runtime_error("the disk is on fire");
    };
    const std::string last = std::to_string(stages - 1);
    const std::string number = std::to_string(failing);
    EXPECT_EQ(
        test::message_of<Error>([&] { (void)runtime::run_schedule(job, schedule, extent, feed); }),
        "worker " + last + ", " + last + ":L" + number + " (stage " + last + ", minibatch " +
            number + "): the disk is on fire");
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, ThreadThroughAllRooms, testing::Values(2, 3, 4));

}  // namespace
}  // namespace pipedream
