#include "runtime/weight_store.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "core/check.h"

namespace pipedream::runtime {
namespace {

constexpr std::int64_t kAlignment = 64;  // bytes: a cache line, and the widest vector load

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// A buffer for all parameters of one version, and the views into it.
at::Tensor allocate(const model::Tensors& parameters, model::Tensors& views) {
  std::int64_t total = 0;
  for (const at::Tensor& parameter : parameters)
    total += aligned(static_cast<std::int64_t>(parameter.nbytes()));
  const at::Device device = parameters.empty() ? at::Device(at::kCPU) : parameters[0].device();
  at::Tensor flat = at::empty({total}, at::TensorOptions().dtype(at::kByte).device(device));
  std::int64_t begin = 0;
  for (const at::Tensor& parameter : parameters) {
    const auto bytes = static_cast<std::int64_t>(parameter.nbytes());
    views.push_back(
        flat.slice(0, begin, begin + bytes).view(parameter.scalar_type()).view(parameter.sizes()));
    begin += aligned(bytes);
  }
  return flat;
}

}  // namespace

WeightStore::WeightStore(model::Tensors parameters) : parameters_(std::move(parameters)) {
  const at::NoGradGuard no_grad;
  const std::size_t first = take_buffer();
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    buffers_[first].views[i].copy_(parameters_[i]);
  versions_[newest_] = {first, 0};
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i].set_data(buffers_[first].views[i]);
  active_ = first;
}

std::size_t WeightStore::take_buffer() {
  if (!free_.empty()) {
    const std::size_t taken = free_.back();
    free_.pop_back();
    return taken;
  }
  Buffer buffer;
  buffer.flat = allocate(parameters_, buffer.views);
  buffers_.push_back(std::move(buffer));
  return buffers_.size() - 1;
}

void WeightStore::activate(WeightVersion version) {
  const auto found = versions_.find(version);
  PD_CHECK(found != versions_.end());
  if (found->second.buffer == active_) return;
  active_ = found->second.buffer;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i].set_data(buffers_[active_].views[i]);
}

void WeightStore::acquire(WeightVersion version) {
  const auto found = versions_.find(version);
  PD_CHECK(found != versions_.end());
  ++found->second.users;
}

void WeightStore::release(WeightVersion version) {
  const auto found = versions_.find(version);
  PD_CHECK(found != versions_.end() && found->second.users > 0);
  --found->second.users;
  drop_if_unused(version);
}

void WeightStore::drop_if_unused(WeightVersion version) {
  const auto found = versions_.find(version);
  if (version == newest_ || found->second.users > 0) return;
  free_.push_back(found->second.buffer);
  versions_.erase(found);
}

void WeightStore::update(WeightVersion to, const Step& step) {
  const at::NoGradGuard no_grad;
  const WeightVersion from = newest_;
  const Version old = versions_.at(from);
  const bool in_place = old.users == 0;
  const std::size_t target = in_place ? old.buffer : take_buffer();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor& gradient = parameters_[i].mutable_grad();
    const at::Tensor& before = buffers_[old.buffer].views[i];
    const at::Tensor& after = buffers_[target].views[i];
    if (gradient.defined())
      step(i, before, gradient, after);
    else if (!in_place)
      after.copy_(before);
    gradient.reset();
  }
  if (in_place) versions_.erase(from);
  versions_[to] = {target, 0};
  newest_ = to;
  peak_ = std::max(peak_, versions_.size());
}

const model::Tensors& WeightStore::newest_weights() const {
  return buffers_[versions_.at(newest_).buffer].views;
}

}  // namespace pipedream::runtime
