// One worker that trains a whole network, without data to load, as benchmarks time it.
#pragma once

#include <chrono>
#include <functional>

#include "model/precision.h"
#include "model/sample_inputs.h"
#include "runtime/run.h"
#include "systems/schedules.h"
#include "train/optimiser_options.h"

namespace pipedream::bench {

inline constexpr std::uint64_t kSeed = 1;
inline constexpr double kRate = 0.001;

// A feed that gives the same minibatch every time, from the memory of the device.
class FixedFeed final : public runtime::Feed {
 public:
  FixedFeed(const model::Network& network, at::Device device) : batch_(network.batch) {
    for (const model::InputSpec& input : network.inputs)
      tensors_[input.layer] = model::sample_input(input, kSeed, 0).to(device);
  }
  std::int64_t samples(const schedule::Item&) const override { return batch_; }
  std::int64_t minibatch_samples(std::int64_t) const override { return batch_; }
  std::int64_t samples_before(std::int64_t minibatch) const override { return minibatch * batch_; }
  at::Tensor load(const model::InputSpec& input, const schedule::Item&, std::int64_t first,
                  std::int64_t count) const override {
    return tensors_.at(input.layer).slice(0, first, first + count);
  }

 private:
  std::int64_t batch_;
  std::map<LayerId, at::Tensor> tensors_;
};

inline plan::Plan one_stage(const model::Network& network) {
  plan::Plan plan{.system = "pipedream"};
  plan.stages.resize(1);
  for (const LayerId layer : network.graph.order())
    if (!network.graph.layer(layer).is_input) plan.stages[0].layers.push_back(layer);
  plan.stages[0].workers = {WorkerId{0}};
  return plan;
}

// Trains a number of minibatches, and returns the milliseconds of one.
using Steps = std::function<double(std::int64_t minibatches)>;

// Makes a worker of the runtime for the whole network, and calls `body` with what trains it. The
// optimiser is SGD with momentum.
inline void with_worker(const model::Network& network, at::Device device,
                        model::Precision precision, const std::function<void(const Steps&)>& body) {
  const FixedFeed feed(network, device);
  const plan::Plan plan = one_stage(network);
  runtime::Job job{.network = network, .plan = plan, .seed = kSeed};
  job.devices = {device};
  job.precision = precision;
  job.make_optimiser = [] { return train::make_optimiser({.learning_rate = kRate}); };
  runtime::run_on_threads(1, std::nullopt, [&](const runtime::Seat& seat) {
    runtime::Worker worker(job, seat.me, seat.channels, seat.clock, {});
    body([&](std::int64_t minibatches) {
      const schedule::Schedule schedule = systems::schedule_for(plan, {.minibatches = minibatches});
      const auto began = std::chrono::steady_clock::now();
      worker.run({schedule, {.minibatches = minibatches}, feed});
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - began;
      return took.count() / static_cast<double>(minibatches);
    });
  });
}

}  // namespace pipedream::bench
