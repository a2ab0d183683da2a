#include "runtime/gradient_buckets.h"

#include <algorithm>
#include <utility>

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

Bytes gradient_size(const at::Tensor& parameter) {
  return Bytes{parameter.numel() * static_cast<std::int64_t>(sizeof(float))};
}

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
  std::vector<std::size_t> open;
  std::size_t next = parameters.size();
  for (std::size_t layer = per_layer.size(); layer-- > 0;) {
    Bytes joined{0};
    for (std::size_t i = 0; i < per_layer[layer]; ++i) {
      const Bytes size = gradient_size(parameters[--next]);
      if (rule.is_alone(size)) {
        add_bucket({next});
        continue;
      }
      open.push_back(next);
      joined += size;
    }
    if (joined > Bytes{0} && rule.fills(joined)) add_bucket(std::exchange(open, {}));
  }
  if (!open.empty()) add_bucket(open);
  PD_CHECK(next == 0);
}

void BucketLayout::add_bucket(std::vector<std::size_t> members) {
  floats_.push_back(0);
  for (const std::size_t parameter : members) {
    bucket_of_[parameter] = members_.size();
    floats_.back() += forms_[parameter].floats();
  }
  members_.push_back(std::move(members));
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

void BucketLayout::allocate(std::size_t bucket, Buckets& made) const {
  made.flat.resize(buckets());
  made.views.resize(forms_.size());
  made.flat[bucket] = at::empty({floats_[bucket]}, device_);
  std::int64_t begin = 0;
  for (const std::size_t parameter : members_[bucket]) {
    const Form& form = forms_[parameter];
    made.views[parameter] = made.flat[bucket]
                                .slice(0, begin, begin + form.floats())
                                .as_strided(form.sizes, form.strides);
    begin += form.floats();
  }
}

bool BucketLayout::is_bucket(std::size_t parameter, const at::Tensor& gradient) const {
  const Form& form = forms_[parameter];
  const auto bytes = static_cast<std::size_t>(gradient_size(gradient).count);
  return members_[bucket_of_[parameter]].size() == 1 && gradient.is_cpu() &&
         gradient.scalar_type() == at::kFloat && gradient.sizes() == form.sizes &&
         gradient.strides() == form.strides && gradient.storage_offset() == 0 &&
         gradient.storage().nbytes() == bytes && gradient.storage().use_count() == 1;
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
  if (free_.empty())
    free_.push_back({model::Tensors(layout_.buckets()), model::Tensors(parameters_.size())});
  filling_ = std::move(free_.back());
  free_.pop_back();
  return *filling_;
}

const at::Tensor& GradientBuckets::view(std::size_t parameter) {
  const at::Tensor& view = filling().views[parameter];
  if (!view.defined()) layout_.allocate(layout_.bucket_of(parameter), filling());
  return view;
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
  if (filled_[parameter]) {
    view(parameter).add_(gradient);
  } else if (layout_.is_bucket(parameter, gradient)) {
    filling().flat[layout_.bucket_of(parameter)] = gradient.as_strided({gradient.numel()}, {1});
    filling().views[parameter] = gradient;
  } else {
    view(parameter).copy_(gradient);
  }
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
      if (!filled_[parameter]) view(parameter).zero_();
      if (!completed_[parameter]) complete(parameter);
    }
  Buckets done = std::move(filling());
  filling_.reset();
  filled_.assign(parameters_.size(), false);
  on_full_ = nullptr;
  return done;
}

}  // namespace pipedream::runtime
