#include "runtime/gradient_buckets.h"

#include <algorithm>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include "core/check.h"

namespace pipedream::runtime {
namespace {

// Calls a function when autograd has accumulated a parameter's gradient.
class GradientHook final : public torch::autograd::PostAccumulateGradHook {
 public:
  explicit GradientHook(std::function<void()> call) : call_(std::move(call)) {}
  void operator()(const torch::autograd::Variable&) override { call_(); }

 private:
  std::function<void()> call_;
};

}  // namespace

BucketLayout::BucketLayout(const model::Tensors& parameters,
                           const std::vector<std::size_t>& per_layer, const BucketSizes& sizes)
    : bucket_of_(parameters.size()) {
  if (!parameters.empty()) device_ = parameters[0].device();
  for (const at::Tensor& parameter : parameters) {
    const at::Tensor dense =
        parameter.is_non_overlapping_and_dense() ? parameter : at::empty(parameter.sizes());
    forms_.push_back({dense.sizes().vec(), dense.strides().vec()});
  }
  BucketRule rule(sizes);
  bool full = true;
  std::size_t next = parameters.size();
  for (std::size_t layer = per_layer.size(); layer-- > 0;) {
    if (per_layer[layer] == 0) continue;
    if (full) {
      members_.emplace_back();
      floats_.push_back(0);
    }
    const std::int64_t before = floats_.back();
    for (std::size_t i = 0; i < per_layer[layer]; ++i) {
      members_.back().push_back(--next);
      bucket_of_[next] = members_.size() - 1;
      floats_.back() += parameters[next].numel();
    }
    full = rule.fills(Bytes{(floats_.back() - before) * static_cast<std::int64_t>(sizeof(float))});
  }
  PD_CHECK(next == 0);
}

std::vector<BucketLayout::Piece> BucketLayout::pieces(std::size_t bucket,
                                                      const Range& range) const {
  std::vector<Piece> found;
  std::int64_t begin = 0;  // where the parameter begins in the bucket
  for (const std::size_t parameter : members_[bucket]) {
    const std::int64_t size = forms_[parameter].floats();
    const std::int64_t first = std::max(begin, range.first);
    const std::int64_t end = std::min(begin + size, range.first + range.count);
    if (first < end) found.push_back({parameter, {first - begin, end - first}});
    begin += size;
  }
  return found;
}

Buckets BucketLayout::allocate() const {
  Buckets made;
  made.views.resize(forms_.size());
  for (std::size_t bucket = 0; bucket < buckets(); ++bucket) {
    made.flat.push_back(at::empty({floats_[bucket]}, device_));
    std::int64_t begin = 0;
    for (const std::size_t parameter : members_[bucket]) {
      const Form& form = forms_[parameter];
      made.views[parameter] = made.flat.back()
                                  .slice(0, begin, begin + form.floats())
                                  .as_strided(form.sizes, form.strides);
      begin += form.floats();
    }
  }
  return made;
}

GradientBuckets::GradientBuckets(model::Tensors parameters, BucketLayout layout)
    : parameters_(std::move(parameters)),
      layout_(std::move(layout)),
      filled_(parameters_.size(), false) {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    torch::autograd::impl::set_post_acc_grad_hooks(parameters_[i],
                                                   std::make_unique<GradientHook>([this, i] {
                                                     take(i);
                                                     if (is_open()) complete(i);
                                                   }));
}

GradientBuckets::~GradientBuckets() {
  for (const at::Tensor& parameter : parameters_)
    torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
}

Buckets& GradientBuckets::filling() {
  if (filling_) return *filling_;
  if (free_.empty()) free_.push_back(layout_.allocate());
  filling_ = std::move(free_.back());
  free_.pop_back();
  return *filling_;
}

void GradientBuckets::begin(Full on_full) {
  PD_CHECK(!is_open() && on_full);
  on_full_ = std::move(on_full);
  completed_.assign(parameters_.size(), false);
  missing_.clear();
  for (std::size_t b = 0; b < layout_.buckets(); ++b)
    missing_.push_back(layout_.parameters(b).size());
  handed_over_ = 0;
}

void GradientBuckets::take(std::size_t parameter) {
  const at::NoGradGuard no_grad;
  at::Tensor& gradient = parameters_[parameter].mutable_grad();
  const at::Tensor& into = filling().views[parameter];
  if (filled_[parameter])
    into.add_(gradient);
  else
    into.copy_(gradient);
  filled_[parameter] = true;
  gradient.reset();
}

// Buckets are handed over in ascending order, whatever order autograd works in, so that all members
// of a replica group start their all-reduces in the same order.
void GradientBuckets::complete(std::size_t parameter) {
  PD_CHECK(!completed_[parameter]);
  completed_[parameter] = true;
  --missing_[layout_.bucket_of(parameter)];
  for (; handed_over_ < missing_.size() && missing_[handed_over_] == 0; ++handed_over_)
    on_full_(handed_over_, filling().flat[handed_over_]);
}

Buckets GradientBuckets::finish() {
  PD_CHECK(is_open());
  const at::NoGradGuard no_grad;
  for (std::size_t b = 0; b < layout_.buckets(); ++b)
    for (const std::size_t parameter : layout_.parameters(b)) {
      if (!filled_[parameter]) filling().views[parameter].zero_();
      if (!completed_[parameter]) complete(parameter);
    }
  Buckets done = std::move(filling());
  filling_.reset();
  filled_.assign(parameters_.size(), false);
  on_full_ = nullptr;
  return done;
}

}  // namespace pipedream::runtime
