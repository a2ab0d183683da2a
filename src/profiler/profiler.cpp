#include "profiler/profiler.h"

#include <algorithm>

#include "core/check.h"
#include "core/error.h"
#include "core/machine.h"
#include "core/median.h"
#include "model/device.h"
#include "model/memory_meter.h"
#include "model/out_of_memory.h"
#include "model/threads.h"
#include "profiler/company.h"
#include "profiler/fixed_time.h"
#include "profiler/passes.h"

namespace pipedream::profiler {
namespace {

// Phases, as progress names them.
constexpr char kTiming[] = "timing layers";
constexpr char kMeasuringMemory[] = "measuring memory";

constexpr std::size_t kLeastPasses = 5;
constexpr std::size_t kMostPasses = 200;
// Times are stable if those of the middle half of the passes are apart by less than this share of
// the median.
constexpr double kStable = 0.01;
constexpr std::int64_t kPartsOfBatch = 8;  // a part is a minibatch's samples divided by this
constexpr double kWholeShare = 0.7;        // of the budget, for minibatches; parts have the rest
constexpr double kLongestWarmUp = 2;       // in budgets; a longer first pass is no warm-up

// The times of all passes of one kind.
struct Series {
  std::vector<std::vector<LayerTime>> passes;  // by pass and layer
  std::vector<Nanos> sums;                     // by pass: the time of all layers together

  void add(std::vector<LayerTime> pass) {
    Nanos sum{0};
    for (const LayerTime& time : pass) sum += time.forward + time.backward + time.update;
    passes.push_back(std::move(pass));
    sums.push_back(sum);
  }
  // How far the passes are apart, over the median, without the longest and the shortest ones, a
  // share of `left_out` each. nullopt if there are too few to tell.
  [[nodiscard]] std::optional<double> spread(double left_out) const {
    if (sums.size() < kLeastPasses) return std::nullopt;
    std::vector<Nanos> sorted = sums;
    std::sort(sorted.begin(), sorted.end());
    const auto at = [&](double share) {
      return to_seconds(sorted[static_cast<std::size_t>(share * static_cast<double>(sums.size()))]);
    };
    return (at(1 - left_out) - at(left_out)) / at(0.5);
  }
  [[nodiscard]] bool stable() const {
    const std::optional<double> of_middle_half = spread(0.25);
    return of_middle_half && *of_middle_half < kStable;
  }
};

struct Measured {
  Series whole;                  // passes layer by layer over minibatches, with the update
  std::vector<Nanos> in_one_go;  // passes of the whole model over minibatches, with the update
  std::vector<Nanos> input;      // making the inputs of a minibatch
  // Passes layer by layer over parts, without the update; none if has_parts() is false.
  Series part;
};

// Batch norm cannot be trained on a single sample.
constexpr std::int64_t kLeastSamples = 2;

bool has_parts(const model::Network& network) {
  return network.batch > kLeastSamples && !network.has_fixed_batch;
}

std::int64_t samples_of_part(std::int64_t batch) {
  return std::max(kLeastSamples, batch / kPartsOfBatch);
}

double share_of_part(std::int64_t batch) {
  return static_cast<double>(samples_of_part(batch)) / static_cast<double>(batch);
}

// Runs the passes and keeps what they measured.
class Measurement {
 public:
  Measurement(WholeModel& model, const Update& update, const ProfileOptions& options)
      : model_(model), options_(options), whole_(model, update), part_(model, {}) {}

  // Runs each kind of pass once.
  void run_once() {
    run_minibatch(0);
    if (has_parts(model_.network())) run_part(0);
  }

  Measured run(Company& company) {
    began_ = std::chrono::steady_clock::now();
    repeat(measured_.whole, has_parts(model_.network()) ? kWholeShare : 1,
           [this](auto pass) { run_minibatch(pass); });
    if (has_parts(model_.network())) {
      // The other workers run parts too, so that caches and memory are as busy as they are when all
      // workers run microbatches.
      company.cut(samples_of_part(model_.network().batch));
      repeat(measured_.part, 1, [this](auto pass) { run_part(pass); });
    }
    model_.clear_gradients();
    return std::move(measured_);
  }

 private:
  // The time since run() began, as a share of the budget.
  [[nodiscard]] double used() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_) /
           options_.budget;
  }

  // Runs `pass` until the times in `series` are stable, or the share `until` of the budget is used
  // up.
  template <class Pass>
  void repeat(Series& series, double until, Pass pass) {
    const Measured before = measured_;
    const double start = used();
    pass(0);
    const double one_pass = used() - start;
    // The first pass is up to a tenth slower than later ones, so it counts only where another takes
    // too long. On a GPU it never counts: in it the profiler learns how long the CPU takes to queue
    // the layers, and there are gaps between them.
    if (one_pass > kLongestWarmUp && options_.device.is_cpu()) return;
    measured_ = before;  // the first pass was the warm-up
    for (std::int64_t number = 1; series.sums.size() < kMostPasses; ++number) {
      options_.progress(std::min(1.0, used()), kTiming);
      pass(number);
      if (series.stable() || used() + one_pass > until) break;
    }
  }

  void run_minibatch(std::int64_t minibatch) {
    const auto start = std::chrono::steady_clock::now();
    const Values inputs = model_.sample_inputs(minibatch);
    measured_.input.push_back(
        std::chrono::duration_cast<Nanos>(std::chrono::steady_clock::now() - start));
    model_.clear_gradients();  // as training does after an update
    measured_.in_one_go.push_back(whole_.run_whole(inputs, minibatch));
    measured_.whole.add(whole_.run(inputs, minibatch));
  }

  // The part adds to gradients that are there already, as every microbatch but the first does.
  void run_part(std::int64_t minibatch) {
    const Values inputs =
        first_samples(model_.sample_inputs(minibatch), samples_of_part(model_.network().batch));
    measured_.part.add(part_.run(inputs, minibatch));
  }

  WholeModel& model_;
  const ProfileOptions& options_;
  LayerByLayer whole_;
  LayerByLayer part_;
  std::chrono::steady_clock::time_point began_;
  Measured measured_;
};

// Passes run under a memory meter, because training runs its workers under one. If layers are
// small, metering takes some per cent of their time.
Measured measure_in_company(WholeModel& model, const Update& update,
                            const ProfileOptions& options) {
  const auto ledger = model::make_memory_ledger();
  const bool binds = options.bind_cores && options.device.is_cpu();
  place::ChosenCores cores;
  if (binds) cores = place::choose_cores(options.workers, options.threads);
  const std::vector<place::Placement>& placements = cores.by_worker;
  const auto bound = place::bound_to(placements.empty() ? place::Placement() : placements[0]);
  Company company(model.network(), options, ledger, placements);
  const model::MemoryMeter meter(ledger, options.device);
  options.progress(0, kTiming);
  // The first time that a GPU's libraries meet a layer, they search for the fastest algorithm,
  // which takes much longer than a pass. So one pass of each kind runs before, and its times are
  // dropped.
  if (!options.device.is_cpu()) Measurement(model, update, options).run_once();
  Measured measured = Measurement(model, update, options).run(company);
  company.leave();
  return measured;
}

// The times of one layer: medians over all passes, each of forward, backward and update by itself.
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
  const LayerTime whole = time_of(measured.whole.passes, layer);
  return {.forward = whole.forward,
          .backward = whole.backward,
          .weights = model::weight_bytes(network.specs[layer]),
          .stash = memory.stash,
          .keeps_input = memory.keeps_input,
          .keeps_output = memory.keeps_output,
          .update = whole.update,
          .working = profile::Working{memory.working},
          .forward_working = {memory.forward_working}};
}

void add_fixed_times(const Measured& measured, std::int64_t batch, profile::Profile& profile) {
  if (measured.part.passes.empty()) return;
  const double share = share_of_part(batch);
  std::vector<Nanos> forward, backward, part_forward, part_backward;
  for (std::size_t layer = 0; layer < profile.costs.size(); ++layer) {
    const LayerTime part = time_of(measured.part.passes, layer);
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

void add_fixed_memory(WholeModel& model, const Values& inputs,
                      const std::function<void(double)>& progress, profile::Profile& profile) {
  const std::int64_t batch = model.network().batch;
  const std::vector<LayerMemory> part =
      run_for_memory(model, first_samples(inputs, samples_of_part(batch)), progress);
  const double share = share_of_part(batch);
  for (std::size_t layer = 0; layer < profile.costs.size(); ++layer) {
    profile::LayerCost& cost = profile.costs[layer];
    if (!cost.working) continue;
    profile::Working& forward = cost.forward_working;
    cost.working->fixed = fixed_bytes(cost.working->all, part[layer].working, share);
    forward.fixed = fixed_bytes(forward.all, part[layer].forward_working, share);
  }
}

// The least memory that training one minibatch takes: weights, their gradients, and all values of
// the graph.
Bytes least_memory(const model::Network& network) {
  Bytes bytes;
  for (const model::LayerSpec& spec : network.specs)
    bytes += model::weight_bytes(spec) + model::weight_bytes(spec);
  for (const graph::Value& value : network.graph.values()) bytes += value.bytes;
  return bytes;
}

// Throws CannotMeet if the machine's memory cannot hold the least that training takes. Called
// before anything is allocated: Linux grants more memory than there is, and kills the program when
// it uses that memory.
void require_memory(const model::Network& network, at::Device device, int workers) {
  const Bytes least = least_memory(network);
  // Divided, because the product may be larger than a number can be.
  if (!device.is_cpu() || least.count <= physical_memory().count / workers) return;
  const Bytes needed{least.count * workers};
  throw CannotMeet(network.name + " with a minibatch of " + std::to_string(network.batch) +
                   (workers > 1 ? " on " + std::to_string(workers) + " workers" : "") +
                   " needs at least " + to_text(needed) + " of memory, and this machine has " +
                   to_text(physical_memory()) + ": choose a smaller `batch` or smaller sizes");
}

// The measured size of each value of the graph, indexed by value. With Precision::kFloat it equals
// the size that the network declares; in bfloat16 values may be smaller.
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
  if (options.make_input) model.take_inputs_from(options.make_input);
  const Update update = options.make_update ? options.make_update() : Update();
  if (update) prepare_updates(model, update);
  const Measured measured = measure_in_company(model, update, options);
  const Values inputs = model.sample_inputs(0);
  // Memory is measured for the whole minibatch, then for a part of it (has_parts). `of_whole` is
  // the share of the progress that the whole minibatch makes.
  const double of_whole = has_parts(network) ? 1 / (1 + share_of_part(network.batch)) : 1;
  const std::vector<LayerMemory> memory = run_for_memory(
      model, inputs, [&](double share) { options.progress(share * of_whole, kMeasuringMemory); });

  profile::Profile profile;
  profile.model = network.name;
  profile.batch = network.batch;
  profile.device = options.device.str();
  profile.precision = model::to_text(options.precision);
  profile.threads = options.threads;
  if (options.workers > 1) profile.workers = options.workers;
  profile.passes = static_cast<int>(measured.whole.sums.size());
  profile.spread = measured.whole.spread(0.1);
  profile.input = median(measured.input);
  profile.whole = median(measured.in_one_go);
  profile.graph = network.graph.with_sizes(sizes_of(memory, network, options.precision));
  for (std::size_t i = 0; i < network.graph.layers().size(); ++i) {
    const graph::Layer& layer = network.graph.layers()[i];
    profile.costs.push_back(layer.is_input ? profile::LayerCost{}
                                           : cost_of(measured, memory[i], network, i));
  }
  add_fixed_times(measured, network.batch, profile);
  const auto tell_rest = [&](double share) {
    options.progress(of_whole + share * (1 - of_whole), kMeasuringMemory);
  };
  if (has_parts(network)) add_fixed_memory(model, inputs, tell_rest, profile);
  return profile;
}

}  // namespace

profile::Profile profile_network(const model::Network& network, const ProfileOptions& options) {
  model::require_device(options.device);
  require_memory(network, options.device, options.workers);
  model::use_threads(options.threads);
  model::choose_fast_convolutions(options.device);
  try {
    return profile_on(network, options);
  } catch (const c10::Error& error) {
    if (!model::is_out_of_memory(error)) throw;
    throw CannotMeet(network.name + " with a minibatch of " + std::to_string(network.batch) +
                     " does not fit into the memory of " + options.device.str() +
                     ": choose a smaller `batch` or smaller sizes");
  }
}

}  // namespace pipedream::profiler
