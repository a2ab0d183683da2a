// Test cases for the runtime, and functions that compare their results with plain training. Only
// *_test.cpp files include this.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/ops/add.h>
#include <ATen/ops/equal.h>

#include "reference_training_testing.h"
#include "runtime/run_testing.h"
#include "schedule/lower.h"
#include "schedule/validate.h"
#include "schedule/worker_counter_testing.h"
#include "small_networks_testing.h"
#include "systems/schedules.h"

namespace pipedream::test {

inline constexpr std::uint64_t kSeed = 7;

// The optimiser of the reference (sgd_step()) as a runtime::Optimiser.
class MomentumSgd final : public runtime::Optimiser {
 public:
  explicit MomentumSgd(double momentum = kMomentum) : momentum_(momentum) {}

  void step(const runtime::ParameterStep& step) override {
    at::Tensor& velocity = velocities_[step.parameter];
    if (velocity.defined())
      velocity.mul_(momentum_).add_(step.gradient);
    else
      velocity = step.gradient.clone();
    at::Tensor out = step.to;
    at::add_out(out, step.from, velocity, -kRate * step.rate);
  }
  std::vector<std::string> state_names() const override { return {"momentum"}; }
  runtime::OptimiserState state(std::size_t parameter) const override {
    const auto found = velocities_.find(parameter);
    if (found == velocities_.end()) return {};
    return {{"momentum", found->second}};
  }
  void set_state(std::size_t parameter, const runtime::OptimiserState& state,
                 const at::Tensor& weights) override {
    if (state.empty()) return;
    velocities_[parameter] = at::empty_like(weights).copy_(state.at("momentum"));
  }

 private:
  double momentum_;
  std::map<std::size_t, at::Tensor> velocities_;
};

[[nodiscard]] inline runtime::Job make_job(const model::Network& network, const plan::Plan& plan) {
  runtime::Job job{.network = network, .plan = plan, .seed = kSeed};
  job.patience = std::chrono::seconds(60);
  job.keep_timeline = true;
  job.make_optimiser = [] { return std::make_unique<MomentumSgd>(); };
  return job;
}

// Whether all tensors have the same names and the same bits.
[[nodiscard]] inline bool are_same(const std::map<std::string, at::Tensor>& some,
                                   const std::map<std::string, at::Tensor>& others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                    [](const auto& one, const auto& other) {
                      return one.first == other.first && at::equal(one.second, other.second);
                    });
}
[[nodiscard]] inline bool are_same(const runtime::Weights& some, const runtime::Weights& others) {
  return are_same(some.parameters, others.parameters) && are_same(some.buffers, others.buffers);
}

inline void expect_same(const std::map<std::string, at::Tensor>& found,
                        const std::map<std::string, at::Tensor>& wanted) {
  EXPECT_EQ(found.size(), wanted.size());
  for (const auto& [name, tensor] : wanted) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_TRUE(at::equal(found.at(name), tensor)) << name << " differs";
  }
}
inline void expect_same(const runtime::Weights& found, const runtime::Weights& wanted) {
  expect_same(found.parameters, wanted.parameters);
  expect_same(found.buffers, wanted.buffers);
}

inline void expect_same_losses(const std::map<std::int64_t, double>& found,
                               const std::map<std::int64_t, double>& wanted) {
  EXPECT_EQ(found.size(), wanted.size());
  for (const auto& [minibatch, loss] : wanted) {
    ASSERT_TRUE(found.contains(minibatch)) << minibatch;
    EXPECT_DOUBLE_EQ(found.at(minibatch), loss) << "minibatch " << minibatch;
  }
}

// Expects that every worker ran exactly the ops of its program.
inline void expect_programs(const runtime::TestRun& run, const schedule::Schedule& schedule,
                            const model::Network& network, const plan::Plan& plan) {
  const auto programs = schedule::lower(schedule, plan, network.graph);
  EXPECT_TRUE(schedule::validate(programs, schedule.rules, plan, network.graph).empty());
  for (const schedule::Program& program : programs)
    EXPECT_EQ(run.ops(program.worker), program.ops) << "worker " << program.worker.value;
}

// Expects that the largest numbers of weight versions and of items in flight that each stage had
// are those of the schedule.
inline void expect_peaks(const runtime::TestRun& run, const schedule::Schedule& schedule) {
  for (const schedule::Generator& generator : schedule.generators) {
    schedule::WorkerCounter counter(schedule.rules);
    for (const schedule::Op& op : schedule::program_of(generator).ops) counter.add(op);
    for (const auto& [stage, counted] : counter.stages()) {
      SCOPED_TRACE("worker " + std::to_string(generator.worker.value) + ", stage " +
                   std::to_string(stage.value));
      const runtime::StagePeaks found = run.peaks(generator.worker, stage);
      EXPECT_EQ(found.versions, counted.peak().versions);
      EXPECT_EQ(found.items, counted.peak().in_flight);
    }
  }
}

inline void expect_as_scheduled(const runtime::TestRun& run, const schedule::Schedule& schedule,
                                const model::Network& network, const plan::Plan& plan) {
  expect_programs(run, schedule, network, plan);
  expect_peaks(run, schedule);
}

// The results of plain training (Reference).
struct Plain {
  runtime::Weights weights;
  std::map<std::int64_t, double> losses;
};

// A learning rate that is another one for every update, and depends on its number of minibatches.
[[nodiscard]] inline Rate changing_rate() {
  return [](std::int64_t samples, std::int64_t minibatches) {
    return static_cast<double>(minibatches) / (1 + static_cast<double>(samples) / 16);
  };
}

// A network, a plan for one system with its schedule, and samples.
struct Case {
  Case(model::Network of, plan::Plan with, const systems::ScheduleOptions& training,
       std::optional<std::int64_t> last_samples = std::nullopt)
      : network(std::move(of)),
        plan(std::move(with)),
        extent{training.minibatches, plan.microbatches,
               training.last_microbatches.value_or(plan.microbatches)},
        schedule(systems::schedule_for(plan, training)),
        feed(network, extent, kSeed, 0, last_samples) {}

  [[nodiscard]] runtime::Job job() const {
    runtime::Job job = make_job(network, plan);
    job.averaging = averaging;
    job.rate = rate;
    job.devices.assign(static_cast<std::size_t>(plan::worker_count(plan)), device);
    return job;
  }
  [[nodiscard]] runtime::TestRun run() const {
    return runtime::run_schedule(job(), schedule, extent, feed);
  }
  [[nodiscard]] Reference reference() const {
    return {network,   plan,
            kSeed,     schedule.rules.traits.replicas == schedule::Replicas::kShareItems,
            averaging, device};
  }
  [[nodiscard]] Plain plain(const Rule& rule) const {
    Reference loop = reference();
    loop.train(feed, extent, rule, 0, {}, rate);
    return {loop.weights(), loop.losses()};
  }
  // The weights that plain training gives with this rule.
  [[nodiscard]] runtime::Weights trained_by(const Rule& rule) const { return plain(rule).weights; }

  model::Network network;
  plan::Plan plan;
  schedule::Extent extent;
  schedule::Schedule schedule;
  runtime::SampleFeed feed;
  // Buckets so small that the small networks have several.
  runtime::AveragingOptions averaging{.buckets = {Bytes{256}, Bytes{1024}}};
  at::Device device{at::kCPU};  // device of every worker
  Rate rate = [](std::int64_t, std::int64_t) { return 1.0; };
};

// Runs the case. Expects the weights of plain training bit for bit, its losses, and the ops of the
// schedule.
inline runtime::TestRun expect_bits(const Case& test, const Plain& plain) {
  runtime::TestRun run = test.run();
  expect_same(run.weights, plain.weights);
  expect_same_losses(run.losses, plain.losses);
  expect_programs(run, test.schedule, test.network, test.plan);
  return run;
}
inline runtime::TestRun expect_bits(const Case& test, const Rule& rule) {
  return expect_bits(test, test.plain(rule));
}
// As expect_bits(), and also expects the peaks of the schedule.
inline void expect_rule(const Case& test, const Plain& plain) {
  expect_peaks(expect_bits(test, plain), test.schedule);
}
inline void expect_rule(const Case& test, const Rule& rule) { expect_rule(test, test.plain(rule)); }

}  // namespace pipedream::test
