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

// Allocates a buffer for one version of `parameters` and adds its views, one per parameter, to
// `views`.
at::Tensor allocate(const model::Tensors& parameters, model::Tensors& views) {
  std::int64_t total = 0;
  for (const at::Tensor& parameter : parameters)
    total += aligned(static_cast<std::int64_t>(parameter.nbytes()));
  const at::Device device = parameters.empty() ? at::Device(at::kCPU) : parameters[0].device();
  at::Tensor flat = at::empty({total}, at::TensorOptions().dtype(at::kByte).device(device));
  std::int64_t begin = 0;
  for (const at::Tensor& parameter : parameters) {
    const auto bytes = static_cast<std::int64_t>(parameter.nbytes());
    const at::Tensor view = flat.slice(0, begin, begin + bytes).view(parameter.scalar_type());
    views.push_back(parameter.is_non_overlapping_and_dense()
                        ? view.as_strided(parameter.sizes(), parameter.strides())
                        : view.view(parameter.sizes()));
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

void WeightStore::begin(const schedule::Rules& rules) {
  for (const auto& [version, state] : versions_) {
    PD_CHECK(state.users == 0);
    if (version != newest_) free_.push_back(state.buffer);
  }
  const Version last{versions_.at(newest_).buffer, 0};
  versions_.clear();
  newest_ = {0};
  versions_[newest_] = last;
  stashes_ = rules.stashes();
  kept_ = rules.kept();
}

void WeightStore::acquire(WeightVersion version) {
  if (!stashes_) return;
  const auto found = versions_.find(version);
  PD_CHECK(found != versions_.end());
  ++found->second.users;
}

void WeightStore::release(WeightVersion version) {
  if (!stashes_) return;
  const auto found = versions_.find(version);
  PD_CHECK(found != versions_.end() && found->second.users > 0);
  --found->second.users;
  drop_if_unused(version);
}

void WeightStore::drop_if_unused(WeightVersion version) {
  const auto found = versions_.find(version);
  if (found == versions_.end() || found->second.users > 0) return;
  if (version.value > newest_.value - kept_) return;
  free_.push_back(found->second.buffer);
  versions_.erase(found);
}

const WeightStore::Buffer& WeightStore::next(WeightVersion to) {
  newest_ = to;
  // If this drops the version that is being updated, take_buffer() returns its buffer again: the
  // update is in place.
  drop_if_unused({to.value - kept_});
  const std::size_t target = take_buffer();
  versions_[to] = {target, 0};
  peak_ = std::max(peak_, versions_.size());
  return buffers_[target];
}

void WeightStore::update(WeightVersion to, const model::Tensors& gradients, const Step& step,
                         const Scale& scale) {
  const at::NoGradGuard no_grad;
  PD_CHECK(gradients.size() == parameters_.size());
  const Buffer before = buffers_[versions_.at(newest_).buffer];
  const Buffer& after = next(to);
  const bool in_place = after.flat.is_same(before.flat);
  std::vector<ParameterStep> steps;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (gradients[i].defined())
      steps.push_back(
          {i, before.views[i], gradients[i], after.views[i], scale.divisor, scale.rate});
    else if (!in_place)
      after.views[i].copy_(before.views[i]);
  }
  step(steps);
}

model::Tensors WeightStore::take_gradients() {
  model::Tensors gradients;
  for (at::Tensor& parameter : parameters_) {
    gradients.push_back(parameter.grad());
    parameter.mutable_grad().reset();
  }
  return gradients;
}

const model::Tensors& WeightStore::newest_weights() const {
  return buffers_[versions_.at(newest_).buffer].views;
}

}  // namespace pipedream::runtime
