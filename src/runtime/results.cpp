#include "runtime/results.h"

#include <cstring>
#include <type_traits>

#include "core/check.h"
#include "runtime/tags.h"
#include "runtime/tensor_message.h"

namespace pipedream::runtime {
namespace {

constexpr WorkerId kCollector{0};

// All processes of a run are the same program on the same kind of machine, so objects are sent as
// their bytes in memory.
static_assert(std::is_trivially_copyable_v<timeline::Event>);
static_assert(std::is_trivially_copyable_v<Score>);

class Packer {
 public:
  template <class T>
  void add(const std::vector<T>& entries) {
    static_assert(std::is_trivially_copyable_v<T>);
    header_.push_back(static_cast<std::int64_t>(entries.size()));
    const auto* begin = reinterpret_cast<const std::byte*>(entries.data());
    bytes_.insert(bytes_.end(), begin, begin + entries.size() * sizeof(T));
  }
  [[nodiscard]] transport::Message message() && {
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes_));
    return {std::move(header_), std::span(*owner), owner};
  }

 private:
  std::vector<std::int64_t> header_;
  std::vector<std::byte> bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(const transport::Message& message) : message_(message) {}
  template <class T>
  [[nodiscard]] std::vector<T> next() {
    std::vector<T> entries(static_cast<std::size_t>(message_.header.at(list_++)));
    const std::size_t size = entries.size() * sizeof(T);
    PD_CHECK(place_ + size <= message_.bytes.size());
    if (size > 0) std::memcpy(entries.data(), message_.bytes.data() + place_, size);
    place_ += size;
    return entries;
  }

 private:
  const transport::Message& message_;
  std::size_t list_ = 0;
  std::size_t place_ = 0;
};

struct Totals {
  Bytes sent;
  Bytes memory;
  Lateness lateness;
};
// The stages whose first replica is this worker.
std::vector<Stage*> stages_to_tell(Worker& worker, const plan::Plan& plan) {
  std::vector<Stage*> told;
  for (auto& [id, stage] : worker.stages())
    if (plan.stage(id).workers.front() == worker.id()) told.push_back(&stage);
  return told;
}

std::vector<at::Tensor> tensors_of(Stage& stage) {
  std::vector<at::Tensor> tensors = stage.weights().newest_weights();
  for (const auto& [name, buffer] : stage.buffers()) tensors.push_back(buffer);
  return tensors;
}

// Adds to `weights` the tensors that tensors_of() returned for `stage`, under their names.
void add_named(const model::Network& network, const plan::Stage& stage,
               const std::vector<at::Tensor>& tensors, Weights& weights) {
  std::size_t next = 0;
  for (const LayerId layer : stage.layers)
    for (const model::TensorSpec& spec : network.spec(layer).parameters)
      weights.parameters[spec.name] = tensors.at(next++);
  std::map<std::string, at::Tensor> buffers;
  for (const LayerId layer : stage.layers)
    for (const model::TensorSpec& spec : network.spec(layer).buffers) buffers[spec.name];
  for (auto& [name, tensor] : buffers) tensor = tensors.at(next++);
  weights.buffers.merge(buffers);
}

}  // namespace

Score sum_scores(const Score& own, transport::Transport& control,
                 std::chrono::milliseconds patience) {
  const auto packed = [](const Score& score) {
    Packer packer;
    packer.add(std::vector<Score>{score});
    return std::move(packer).message();
  };
  const auto next_from = [&](WorkerId worker) {
    const transport::Message message = next_message(control, worker, kResults, patience);
    return Unpacker(message).next<Score>().at(0);
  };
  if (control.me() != kCollector) {
    control.send(kCollector, kResults, packed(own));
    return next_from(kCollector);
  }
  Score sum = own;
  for (int w = 1; w < control.workers(); ++w) sum += next_from({w});
  for (int w = 1; w < control.workers(); ++w) control.send({w}, kResults, packed(sum));
  return sum;
}

std::vector<WorkerResult> gather(Worker& worker, Bytes peak_memory, transport::Transport& control,
                                 std::chrono::milliseconds patience) {
  WorkerResult own{worker.id(), worker.recorder().events(), {}, worker.sent(),
                   peak_memory, worker.lateness()};
  for (auto& [id, stage] : worker.stages())
    own.peaks.push_back({id, static_cast<std::int64_t>(stage.weights().peak()),
                         static_cast<std::int64_t>(stage.peak_items())});
  if (control.me() != kCollector) {
    Packer packer;
    packer.add(own.events);
    packer.add(own.peaks);
    packer.add(std::vector<Totals>{{own.sent, own.peak_memory, own.lateness}});
    control.send(kCollector, kResults, std::move(packer).message());
    return {};
  }
  std::vector<WorkerResult> results{std::move(own)};
  for (int w = 1; w < control.workers(); ++w) {
    const transport::Message message = next_message(control, {w}, kResults, patience);
    Unpacker unpacker(message);
    WorkerResult& result = results.emplace_back();
    result.worker = {w};
    result.events = unpacker.next<timeline::Event>();
    result.peaks = unpacker.next<StagePeaks>();
    const Totals totals = unpacker.next<Totals>().at(0);
    result.sent = totals.sent;
    result.peak_memory = totals.memory;
    result.lateness = totals.lateness;
  }
  return results;
}

Weights gather_weights(Worker& worker, const Job& job, transport::Transport& control) {
  if (control.me() != kCollector) {
    for (Stage* stage : stages_to_tell(worker, job.plan))
      for (const at::Tensor& tensor : tensors_of(*stage))
        control.send(kCollector, kTensors, to_message(tensor.detach().cpu()));
    return {};
  }
  Weights weights;
  for (std::size_t s = 0; s < job.plan.stages.size(); ++s) {
    const plan::Stage& stage = job.plan.stages[s];
    const WorkerId from = stage.workers.front();
    std::vector<at::Tensor> tensors;
    if (from == kCollector) {
      tensors = tensors_of(worker.stages().at(id_at<StageId>(s)));
    } else {
      std::size_t count = 0;
      for (const LayerId layer : stage.layers)
        count += job.network.spec(layer).parameters.size() + job.network.spec(layer).buffers.size();
      for (std::size_t i = 0; i < count; ++i)
        tensors.push_back(to_tensor(next_message(control, from, kTensors, job.patience)));
    }
    for (at::Tensor& tensor : tensors) tensor = tensor.detach().cpu().clone();
    add_named(job.network, stage, tensors, weights);
  }
  return weights;
}

}  // namespace pipedream::runtime
