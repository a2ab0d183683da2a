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
#include "model/whole_model.h"
#include "model/zoo.h"
#include "one_worker.h"

namespace {

using namespace pipedream;

constexpr std::int64_t kWarmUp = 10;
constexpr std::int64_t kSteps = 40;
const at::Device kGpu(at::kCUDA, 0);

using Clock = std::chrono::steady_clock;

// A plain libtorch training loop. Returns milliseconds per step.
double bare_loop(const model::Network& network, model::Precision precision) {
  const bench::FixedFeed feed(network, kGpu);
  model::WholeModel model(network, kGpu, bench::kSeed, precision);
  std::vector<at::Tensor> parameters;
  for (const auto& [name, parameter] : model.parameters()) parameters.push_back(parameter);
  torch::optim::SGD optimiser(parameters, torch::optim::SGDOptions(bench::kRate).momentum(0.9));
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
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count() / kSteps;
}

double worker(const model::Network& network, model::Precision precision) {
  double milliseconds = 0;
  bench::with_worker(network, kGpu, precision, [&](const bench::Steps& steps) {
    steps(kWarmUp);
    milliseconds = steps(kSteps);
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
  const double bare = bare_loop(network, precision);
  std::cout << nlohmann::ordered_json{{"model", entry.name},
                                      {"precision", model::to_text(precision)},
                                      {"bare_loop_ms", bare},
                                      {"worker_ms", worker(network, precision)}}
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
