#include "runtime/state.h"

#include <sstream>

#include "core/error.h"
#include "core/text.h"
#include "runtime/tags.h"
#include "runtime/tensor_message.h"
#include "runtime/writers.h"

namespace pipedream::runtime {
namespace {

constexpr const char* kOptimiser = "optimiser.";
constexpr const char* kReplica = "replica.";

std::string of_optimiser(const std::string& kind, const std::string& parameter) {
  return kOptimiser + kind + "." + parameter;
}

std::string of_replica(int replica, const std::string& buffer) {
  return replica == 0 ? buffer : kReplica + std::to_string(replica) + "." + buffer;
}

// A copy in host memory, made at once on the CPU and by the copy stream on a GPU.
HostCopies::Copy copy_of(const HostCopies& copies, const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach();
  return plain.is_cpu() ? HostCopies::Copy{plain.clone(), nullptr} : copies.to_host(plain);
}

// The type and shape of a tensor, as in "Float [3, 4]".
std::string form_of(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.scalar_type() << " " << tensor.sizes();
  return text.str();
}

// Copies a saved tensor into `to`. Throws BadFile if it is missing or does not fit.
void copy_into(at::Tensor to, const std::optional<at::Tensor>& saved, const std::string& name) {
  if (!saved) throw BadFile("the checkpoint has no tensor '" + printable(name) + "'");
  if (saved->sizes() != to.sizes() || saved->scalar_type() != to.scalar_type())
    throw BadFile("the checkpoint's tensor '" + printable(name) + "' is " + form_of(*saved) +
                  ", and this network wants " + form_of(to));
  const at::NoGradGuard no_grad;
  to.copy_(*saved);
}

// The saved optimiser state of a parameter; empty if none of it was saved. Throws BadFile if only a
// part of it was, or if a tensor has not the shape of the parameter.
OptimiserState saved_state(const std::vector<std::string>& kinds, const std::string& parameter,
                           const at::Tensor& weights, const FindTensor& find) {
  OptimiserState state;
  for (const std::string& kind : kinds) {
    const std::string name = of_optimiser(kind, parameter);
    std::optional<at::Tensor> saved = find(name);
    if (!saved) continue;
    if (saved->dim() > 0 && saved->sizes() != weights.sizes())
      throw BadFile("the checkpoint's tensor '" + printable(name) + "' is " + form_of(*saved) +
                    ", and this network wants " + form_of(weights));
    state[kind] = std::move(*saved);
  }
  if (state.empty()) return state;
  for (const std::string& kind : kinds)
    if (!state.contains(kind))
      throw BadFile("the checkpoint has " + state.begin()->first + " and not " + kind +
                    " of the optimiser state of '" + printable(parameter) + "'");
  return state;
}

}  // namespace

std::string name_of_average(const std::string& parameter) {
  return of_optimiser(kAverage, parameter);
}

bool is_of_the_network(const std::string& name) {
  return !name.starts_with(kOptimiser) && !name.starts_with(kReplica);
}

std::map<std::string, HostCopies::Copy> copy_state(Worker& worker, transport::Transport& control) {
  const HostCopies& copies = worker.copies();
  std::map<std::string, HostCopies::Copy> state;
  for (auto& [id, stage] : worker.stages()) {
    const Worker::StageReplica& replica = worker.replica_of(id);
    const std::vector<std::string> names = stage.parameter_names();
    const model::Tensors& weights = stage.weights().newest_weights();
    std::map<std::size_t, OptimiserState> served;
    if (worker.servers() != nullptr) served = worker.servers()->gather_state(control);
    const std::vector<std::size_t> writers =
        writers_of(weights, static_cast<std::size_t>(replica.replicas));
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (writers[i] != static_cast<std::size_t>(replica.replica)) continue;
      state[names[i]] = copy_of(copies, weights[i]);
      const OptimiserState of =
          worker.servers() != nullptr ? served[i] : replica.optimiser->state(i);
      for (const auto& [kind, tensor] : of)
        state[of_optimiser(kind, names[i])] = copy_of(copies, tensor);
    }
    for (const auto& [name, buffer] : stage.buffers())
      state[of_replica(replica.replica, name)] = copy_of(copies, buffer);
  }
  // What this worker computes next may write over the tensors.
  for (const auto& [name, copy] : state)
    if (copy.made) copy.made->hold_back();
  return state;
}

void load_weights(Worker& worker, const FindTensor& find) {
  for (auto& [id, stage] : worker.stages()) {
    const std::vector<std::string> names = stage.parameter_names();
    const model::Tensors& weights = stage.weights().newest_weights();
    for (std::size_t i = 0; i < names.size(); ++i)
      if (const auto found = find(names[i])) copy_into(weights[i], found, names[i]);
    for (const auto& [name, buffer] : stage.buffers())
      if (const auto found = find(name)) copy_into(buffer, found, name);
    for (const auto& [name, copy] : stage.copies())
      if (const auto found = find(name)) copy_into(copy, found, name);
  }
}

void swap_with_averages(Worker& worker) {
  const at::NoGradGuard no_grad;
  for (auto& [id, stage] : worker.stages()) {
    const model::Tensors& weights = stage.weights().newest_weights();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const OptimiserState state = worker.replica_of(id).optimiser->state(i);
      const auto average = state.find(kAverage);
      if (average == state.end()) continue;
      const at::Tensor own = weights[i].clone();
      weights[i].copy_(average->second);
      average->second.copy_(own);
    }
  }
}

void load_state(Worker& worker, const schedule::Rules& rules, const FindTensor& find,
                transport::Transport& control) {
  for (auto& [id, stage] : worker.stages()) {
    const Worker::StageReplica& replica = worker.replica_of(id);
    const std::vector<std::string> names = stage.parameter_names();
    const model::Tensors& weights = stage.weights().newest_weights();
    for (std::size_t i = 0; i < names.size(); ++i) copy_into(weights[i], find(names[i]), names[i]);
    for (const auto& [name, buffer] : stage.buffers()) {
      std::optional<at::Tensor> saved = find(of_replica(replica.replica, name));
      copy_into(buffer, saved ? saved : find(name), name);
    }
    for (const auto& [name, copy] : stage.copies()) copy_into(copy, find(name), name);
    worker.begin_averaging(rules);
    if (worker.servers() != nullptr) {
      const std::vector<std::string> kinds = worker.servers()->state_names();
      worker.servers()->set_state(
          control, [&](std::size_t i) { return saved_state(kinds, names[i], weights[i], find); });
      continue;
    }
    for (std::size_t i = 0; i < names.size(); ++i)
      replica.optimiser->set_state(
          i, saved_state(replica.optimiser->state_names(), names[i], weights[i], find), weights[i]);
  }
}

}  // namespace pipedream::runtime
