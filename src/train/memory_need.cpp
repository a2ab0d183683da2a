#include "train/memory_need.h"

#include <algorithm>

#include "core/error.h"
#include "core/machine.h"
#include "core/text.h"
#include "model/memory_meter.h"
#include "model/whole_model.h"

namespace pipedream::train {
namespace {

// What a pass of `samples` samples allocates at its peak: activations and gradients.
std::int64_t peak_of(model::WholeModel& model, std::int64_t samples, model::MemoryMeter& meter) {
  model::Values inputs = model.sample_inputs(0);
  for (auto& [value, tensor] : inputs) tensor = tensor.narrow(0, 0, samples).clone();
  const std::int64_t before = meter.live();
  meter.restart_peak();
  (void)model.forward(std::move(inputs), 0).at(model.network().loss).backward();
  model.clear_gradients();
  return meter.peak() - before;
}

// The same for a whole minibatch, from passes of one and of two samples. Two, because a part of the
// memory, such as the gradients of the weights, does not grow with the samples.
Bytes peak_of_minibatch(const model::Network& network, model::Precision precision) {
  model::MemoryMeter meter;  // the first, so that it sees all memory that is freed be allocated
  model::WholeModel model(network, at::kCPU, /*seed=*/0, precision);
  if (network.has_fixed_batch) return Bytes{peak_of(model, network.batch, meter)};
  const std::int64_t one = peak_of(model, 1, meter);
  if (network.batch == 1) return Bytes{one};
  const std::int64_t two = peak_of(model, 2, meter);
  return Bytes{one + (network.batch - 1) * std::max<std::int64_t>(0, two - one)};
}

// The sizes of all values that the layers declare, for a whole minibatch.
Bytes declared_values(const model::Network& network) {
  Bytes bytes;
  for (const graph::Value& value : network.graph.values()) bytes += value.bytes;
  return bytes;
}

}  // namespace

MemoryNeed need_of_profile(const model::Network& network, model::Precision precision,
                           int optimiser_copies, int copies, Bytes available) {
  constexpr std::int64_t kTimes = 10;  // activations take a few times what layers declare
  MemoryNeed need{.copies = copies};
  const Bytes weights = model::state_bytes(network);
  need.weights = Bytes{weights.count * (1 + optimiser_copies)};
  need.activations = Bytes{kTimes * declared_values(network).count + weights.count};
  if (need.total().count < available.count / 2) return need;
  need.activations = declared_values(network) + weights;
  if (need.total() > available) return need;
  need.activations = peak_of_minibatch(network, precision);
  return need;
}

void want_memory_for_profile(const model::Network& network, model::Precision precision,
                             int optimiser_copies, int copies) {
  const Bytes available = available_memory();
  const MemoryNeed need = need_of_profile(network, precision, optimiser_copies, copies, available);
  if (need.total() <= available) return;
  throw CannotMeet(
      "profiling " + network.name + " will need about " + to_text(need.total()) + " (" +
      counted(copies, "copy", "copies") + " of the network, each with " + to_text(need.weights) +
      " of weights and optimiser state and " + to_text(need.activations) +
      " of activations and gradients for a `batch` of " + std::to_string(network.batch) +
      "), and this machine has " + to_text(available) +
      " of memory left: choose a smaller `batch`, fewer `workers`, or give a `profile`");
}

std::vector<Bytes> checkpoint_copies(const plan::PlanFile& file, int optimiser_copies) {
  std::vector<Bytes> copies(static_cast<std::size_t>(plan::worker_count(file.plan)));
  for (std::size_t s = 0; s < file.predicted.stages.size(); ++s) {
    const auto& workers = file.plan.stages.at(s).workers;
    const Bytes state{file.predicted.stages[s].weights.count * (1 + optimiser_copies)};
    for (const WorkerId worker : workers)
      copies.at(worker.index()) += Bytes{state.count / static_cast<std::int64_t>(workers.size())};
  }
  return copies;
}

void want_memory_for_training(const plan::PlanFile& file, const std::vector<WorkerId>& workers,
                              const std::vector<Bytes>& copies) {
  Bytes need;
  for (const WorkerId worker : workers)
    if (!copies.empty()) need += copies.at(worker.index());
  for (std::size_t s = 0; s < file.predicted.stages.size(); ++s)
    for (const WorkerId worker : file.plan.stages.at(s).workers)
      if (std::find(workers.begin(), workers.end(), worker) != workers.end())
        need += file.predicted.stages[s].memory;
  const Bytes available = available_memory();
  if (need <= available) return;
  throw CannotMeet("training will need " + to_text(need) +
                   " on this machine, as the plan predicts, and " + to_text(available) +
                   " of memory are left: choose a smaller `batch` or fewer `workers`");
}

}  // namespace pipedream::train
