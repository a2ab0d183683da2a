#include "profiler/profiler.h"

#include <algorithm>

#include "core/check.h"
#include "core/error.h"
#include "core/machine.h"
#include "model/device.h"
#include "model/memory_meter.h"
#include "model/out_of_memory.h"
#include "model/threads.h"
#include "profiler/company.h"
#include "profiler/fixed_time.h"
#include "profiler/passes.h"

namespace pipedream::profiler {
namespace {

constexpr std::size_t kLeastPasses = 5;
constexpr std::size_t kMostPasses = 200;
constexpr double kStable = 0.01;  // spread of the middle half of the passes
constexpr std::int64_t kPartsOfBatch = 8;

template <class Number>
Number median(std::vector<Number> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

// One entry per pass.
struct Measured {
  std::vector<std::vector<LayerTime>> layers;
  std::vector<std::vector<LayerTime>> part;  // the same for a part of the minibatch, if it has any
  std::vector<Nanos> sums;                   // of all layers of a pass
  std::vector<Nanos> whole;
  std::vector<Nanos> input;

  void clear() { *this = {}; }
  [[nodiscard]] bool stable() const {
    if (sums.size() < kLeastPasses) return false;
    std::vector<Nanos> sorted = sums;
    std::sort(sorted.begin(), sorted.end());
    const Nanos spread = sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4];
    return to_seconds(spread) < kStable * to_seconds(sorted[sorted.size() / 2]);
  }
};

Values load_timed(const WholeModel& model, std::int64_t minibatch, Measured& measured) {
  const auto start = std::chrono::steady_clock::now();
  Values values = model.sample_inputs(minibatch);
  measured.input.push_back(
      std::chrono::duration_cast<Nanos>(std::chrono::steady_clock::now() - start));
  return values;
}

// Of one sample norms over the samples cannot be trained.
constexpr std::int64_t kLeastSamples = 2;

std::int64_t samples_of_part(std::int64_t batch) {
  return std::max(kLeastSamples, batch / kPartsOfBatch);
}

Values first_samples(Values inputs, std::int64_t samples) {
  for (auto& [value, tensor] : inputs) tensor = tensor.narrow(0, 0, samples);
  return inputs;
}

// Layer by layer: of whole minibatches with the update, and of parts without.
struct Passes {
  LayerByLayer whole;
  LayerByLayer part;
};

void run_pass(WholeModel& model, Passes& passes, std::int64_t minibatch, Measured& measured) {
  const Values inputs = load_timed(model, minibatch, measured);
  const std::int64_t batch = model.network().batch;
  measured.whole.push_back(passes.whole.run_whole(inputs, minibatch));
  measured.layers.push_back(passes.whole.run(inputs, minibatch));
  // Like every microbatch but the first, it finds gradients to add to.
  if (batch > kLeastSamples)
    measured.part.push_back(
        passes.part.run(first_samples(inputs, samples_of_part(batch)), minibatch));
  model.clear_gradients();
  Nanos sum{0};
  for (const LayerTime& time : measured.layers.back())
    sum += time.forward + time.backward + time.update;
  measured.sums.push_back(sum);
}

Measured measure(WholeModel& model, const Update& update, const ProfileOptions& options) {
  Measured measured;
  const auto new_passes = [&] { return Passes{{model, update}, {model, {}}}; };
  options.progress(0, "warm-up");
  // A GPU's libraries look for their best algorithms when they first meet a layer, which takes much
  // longer than a pass; nothing is to be learnt from that.
  if (!options.device.is_cpu()) {
    Passes warm_up = new_passes();
    run_pass(model, warm_up, 0, measured);
    measured.clear();
  }
  Passes passes = new_passes();
  const auto began = std::chrono::steady_clock::now();
  const auto used = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began) / options.budget;
  };
  run_pass(model, passes, 0, measured);
  const double one_pass = used();
  // The first is some per cent slower than those after it. A GPU's has taught how long its CPU
  // takes, and has gaps.
  if (one_pass > 1 && options.device.is_cpu()) return measured;
  measured.clear();  // it was the warm-up
  for (std::int64_t pass = 1; measured.sums.size() < kMostPasses; ++pass) {
    options.progress(std::min(1.0, used()), "pass " + std::to_string(pass));
    run_pass(model, passes, pass, measured);
    if (measured.stable() || used() + one_pass > 1) break;
  }
  return measured;
}

// Training counts what its workers allocate, and so do these passes: where layers are small, that
// takes some per cent of their time.
Measured measure_in_company(WholeModel& model, const Update& update,
                            const ProfileOptions& options) {
  const auto ledger = model::make_memory_ledger();
  Company company(model.network(), options, ledger);
  const model::MemoryMeter meter(ledger, options.device);
  Measured measured = measure(model, update, options);
  company.leave();
  return measured;
}

// Medians, each over all passes.
LayerTime time_of(const std::vector<std::vector<LayerTime>>& passes, std::size_t layer) {
  std::vector<Nanos> forward;
  std::vector<Nanos> backward;
  std::vector<Nanos> update;
  for (const auto& pass : passes) {
    forward.push_back(pass[layer].forward);
    backward.push_back(pass[layer].backward);
    update.push_back(pass[layer].update);
  }
  return {median(forward), median(backward), median(update)};
}

profile::LayerCost cost_of(const Measured& measured, const LayerMemory& memory,
                           const model::Network& network, std::size_t layer) {
  const LayerTime whole = time_of(measured.layers, layer);
  return {.forward = whole.forward,
          .backward = whole.backward,
          .weights = model::weight_bytes(network.specs[layer]),
          .stash = memory.stash,
          .keeps_input = memory.keeps_input,
          .keeps_output = memory.keeps_output,
          .update = whole.update,
          .working = memory.working};
}

void add_fixed_times(const Measured& measured, std::int64_t batch, profile::Profile& profile) {
  if (measured.part.empty()) return;
  const double share = static_cast<double>(samples_of_part(batch)) / static_cast<double>(batch);
  std::vector<Nanos> forward, backward, part_forward, part_backward;
  for (std::size_t layer = 0; layer < profile.costs.size(); ++layer) {
    const LayerTime part = time_of(measured.part, layer);
    forward.push_back(profile.costs[layer].forward);
    backward.push_back(profile.costs[layer].backward);
    part_forward.push_back(part.forward);
    part_backward.push_back(part.backward);
  }
  const std::vector<Nanos> fixed_forward = fixed_times(forward, part_forward, share);
  const std::vector<Nanos> fixed_backward = fixed_times(backward, part_backward, share);
  for (std::size_t layer = 0; layer < profile.costs.size(); ++layer) {
    profile.costs[layer].fixed_forward = fixed_forward[layer];
    profile.costs[layer].fixed_backward = fixed_backward[layer];
  }
}

// What training one minibatch holds at least: weights, their gradients, and every value of the
// graph.
Bytes least_memory(const model::Network& network) {
  Bytes bytes;
  for (const model::LayerSpec& spec : network.specs)
    bytes += model::weight_bytes(spec) + model::weight_bytes(spec);
  for (const graph::Value& value : network.graph.values()) bytes += value.bytes;
  return bytes;
}

// Asked before anything is allocated: Linux promises more memory than there is, and ends the
// program when it is used.
void require_memory(const model::Network& network, at::Device device, int workers) {
  const Bytes needed{least_memory(network).count * workers};
  if (device.is_cpu() && needed > physical_memory())
    throw CannotMeet(network.name + " with a minibatch of " + std::to_string(network.batch) +
                     (workers > 1 ? " on " + std::to_string(workers) + " workers" : "") +
                     " needs at least " + to_text(needed) + " of memory, and this machine has " +
                     to_text(physical_memory()) + ": choose a smaller --batch or smaller sizes");
}

// By value, as they were seen: in float what the network says.
std::vector<Bytes> sizes_of(const std::vector<LayerMemory>& memory, const model::Network& network,
                            model::Precision precision) {
  std::vector<Bytes> sizes(network.graph.values().size());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const auto& outputs = network.graph.layers()[i].outputs;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      sizes[outputs[o].index()] = memory[i].outputs.at(o);
      PD_CHECK(precision != model::Precision::kFloat ||
               memory[i].outputs[o] == network.graph.value(outputs[o]).bytes);
    }
  }
  return sizes;
}

profile::Profile profile_on(const model::Network& network, const ProfileOptions& options) {
  options.progress(0, "making the weights");
  WholeModel model(network, options.device, options.seed, options.precision);
  const Update update = options.make_update ? options.make_update() : Update();
  if (update) prepare_updates(model, update);
  const Measured measured = measure_in_company(model, update, options);
  options.progress(1, "measuring memory");
  const std::vector<LayerMemory> memory = run_for_memory(model, model.sample_inputs(0));

  profile::Profile profile;
  profile.model = network.name;
  profile.batch = network.batch;
  profile.device = options.device.str();
  profile.precision = model::to_text(options.precision);
  profile.threads = options.threads;
  if (options.workers > 1) profile.workers = options.workers;
  profile.passes = static_cast<int>(measured.sums.size());
  profile.input = median(measured.input);
  profile.whole = median(measured.whole);
  profile.graph = network.graph.with_sizes(sizes_of(memory, network, options.precision));
  for (std::size_t i = 0; i < network.graph.layers().size(); ++i) {
    const graph::Layer& layer = network.graph.layers()[i];
    profile.costs.push_back(layer.is_input ? profile::LayerCost{}
                                           : cost_of(measured, memory[i], network, i));
  }
  add_fixed_times(measured, network.batch, profile);
  return profile;
}

}  // namespace

profile::Profile profile_network(const model::Network& network, const ProfileOptions& options) {
  model::require_device(options.device);
  require_memory(network, options.device, options.workers);
  model::use_threads(options.threads);
  model::prepare(options.device);
  try {
    return profile_on(network, options);
  } catch (const c10::Error& error) {
    if (!model::is_out_of_memory(error)) throw;
    throw CannotMeet(network.name + " with a minibatch of " + std::to_string(network.batch) +
                     " does not fit into the memory of " + options.device.str() +
                     ": choose a smaller --batch or smaller sizes");
  }
}

}  // namespace pipedream::profiler
