// Time of a training step on one GPU: a worker of the runtime against a plain libtorch loop of the
// same network (bar 0.98). The images are in the memory of the GPU. bench/gpu.py runs it in turn
// with PyTorch eager.
//
// usage: bench_gpu MODEL fp32|bf16 [BATCH IMAGE_SIZE]   prints one JSON object
#include <chrono>
#include <iostream>

#include <nlohmann/json.hpp>

#include <torch/optim/sgd.h>

#include "core/error.h"
#include "model/device.h"
#include "model/precision.h"
#include "model/sample_inputs.h"
#include "model/whole_model.h"
#include "model/zoo.h"
#include "runtime/run.h"
#include "systems/schedules.h"
#include "train/optimiser_options.h"

namespace {

using namespace pipedream;

constexpr std::int64_t kWarmUp = 10;
constexpr std::int64_t kSteps = 40;
constexpr std::uint64_t kSeed = 1;
constexpr double kRate = 0.001;
const at::Device kGpu(at::kCUDA, 0);

using Clock = std::chrono::steady_clock;

double milliseconds_per_step(Clock::time_point began) {
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count() / kSteps;
}

// A feed that gives the same minibatch every time, from memory of the GPU.
class FixedFeed final : public runtime::Feed {
 public:
  explicit FixedFeed(const model::Network& network) : batch_(network.batch) {
    for (const model::InputSpec& input : network.inputs)
      tensors_[input.layer] = model::sample_input(input, kSeed, 0).to(kGpu);
  }
  std::int64_t samples(const schedule::Item&) const override { return batch_; }
  std::int64_t minibatch_samples(std::int64_t) const override { return batch_; }
  at::Tensor load(const model::InputSpec& input, const schedule::Item&, std::int64_t first,
                  std::int64_t count) const override {
    return tensors_.at(input.layer).slice(0, first, first + count);
  }

 private:
  std::int64_t batch_;
  std::map<LayerId, at::Tensor> tensors_;
};

// A plain libtorch training loop. Returns milliseconds per step.
double bare_loop(const model::Network& network, const FixedFeed& feed, model::Precision precision) {
  model::WholeModel model(network, kGpu, kSeed, precision);
  std::vector<at::Tensor> parameters;
  for (const auto& [name, parameter] : model.parameters()) parameters.push_back(parameter);
  torch::optim::SGD optimiser(parameters, torch::optim::SGDOptions(kRate).momentum(0.9));
  model::Values inputs;
  for (const model::InputSpec& input : network.inputs)
    inputs[network.graph.layer(input.layer).outputs[0]] =
        model::laid_out(feed.load(input, {}, 0, network.batch), precision);
  Clock::time_point began;
  for (std::int64_t t = 0; t < kWarmUp + kSteps; ++t) {
    if (t == kWarmUp) {
      model::Mark(kGpu).wait();
      began = Clock::now();
    }
    optimiser.zero_grad();
    model.forward(inputs, t).at(network.loss).backward();
    optimiser.step();
  }
  model::Mark(kGpu).wait();
  return milliseconds_per_step(began);
}

plan::Plan one_stage(const model::Network& network) {
  plan::Plan plan{.system = "pipedream"};
  plan.stages.resize(1);
  for (const LayerId layer : network.graph.order())
    if (!network.graph.layer(layer).is_input) plan.stages[0].layers.push_back(layer);
  plan.stages[0].workers = {WorkerId{0}};
  return plan;
}

double worker(const model::Network& network, const FixedFeed& feed, model::Precision precision) {
  const plan::Plan plan = one_stage(network);
  runtime::Job job{.network = network, .plan = plan, .seed = kSeed};
  job.devices = {kGpu};
  job.precision = precision;
  job.make_optimiser = [] { return train::make_optimiser({.learning_rate = kRate}); };
  double milliseconds = 0;
  runtime::run_on_threads(1, std::nullopt, [&](const runtime::Seat& seat) {
    runtime::Worker worker(job, seat.me, seat.channels, seat.clock, {});
    const auto run = [&](std::int64_t minibatches) {
      const schedule::Schedule schedule = systems::schedule_for(plan, {.minibatches = minibatches});
      worker.run({schedule, {.minibatches = minibatches}, feed});
    };
    run(kWarmUp);
    const auto began = Clock::now();
    run(kSteps);
    milliseconds = milliseconds_per_step(began);
  });
  return milliseconds;
}

void measure(const std::vector<std::string>& given) {
  const model::Precision precision = model::precision_named(given.at(1));
  model::require_device(kGpu);
  model::choose_fast_convolutions(kGpu);
  const model::NetworkEntry& entry = model::zoo_entry(given.at(0));
  const std::int64_t batch = given.size() > 2 ? std::stoll(given[2]) : 64;
  const std::string side = given.size() > 3 ? given[3] : "224";
  const model::Network network =
      entry.make(model::Options(entry.options, {{"image-size", side}}), batch);
  const FixedFeed feed(network);
  const double bare = bare_loop(network, feed, precision);
  std::cout << nlohmann::ordered_json{{"model", entry.name},
                                      {"precision", model::to_text(precision)},
                                      {"bare_loop_ms", bare},
                                      {"worker_ms", worker(network, feed, precision)}}
                   .dump()
            << "\n";
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> given(arguments + 1, arguments + count);
  if (given.size() != 2 && given.size() != 4) {
    std::cerr << "usage: bench_gpu MODEL fp32|bf16 [BATCH IMAGE_SIZE]\n";
    return 2;
  }
  try {
    measure(given);
  } catch (const Error& error) {
    std::cerr << "bench gpu: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
