// The gradients of one stage on their way to others: in buckets, each handed over as soon as a
// backward has filled it (core/buckets.h).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/buckets.h"
#include "model/layer.h"

namespace pipedream::runtime {

// Tensors of one stage's parameters, joined in buckets.
struct Buckets {
  model::Tensors flat;   // by bucket
  model::Tensors views;  // by parameter: its part of a bucket
};

// Which parameters are joined bucket by bucket: the last layer's first, in a layer
// the last parameter first. No layer is cut.
class BucketLayout {
 public:
  // `per_layer`: how many of the parameters each layer has, in order.
  BucketLayout(const model::Tensors& parameters, const std::vector<std::size_t>& per_layer,
               const BucketSizes& sizes);

  [[nodiscard]] std::size_t buckets() const { return members_.size(); }
  // Of a bucket, in the order in which they are joined.
  [[nodiscard]] const std::vector<std::size_t>& parameters(std::size_t bucket) const {
    return members_[bucket];
  }
  [[nodiscard]] std::size_t bucket_of(std::size_t parameter) const { return bucket_of_[parameter]; }
  // New ones.
  [[nodiscard]] Buckets allocate() const;

 private:
  std::vector<std::vector<std::int64_t>> shapes_;  // by parameter
  std::vector<std::size_t> bucket_of_;
  std::vector<std::vector<std::size_t>> members_;
  std::vector<std::int64_t> floats_;
};

// Owned by one worker and used by its thread; autograd may call in from another while that thread
// waits for it. The parameters outlive it.
class GradientBuckets {
 public:
  GradientBuckets(model::Tensors parameters, BucketLayout layout);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  // Takes a bucket whose gradients are all there; called for each in order.
  using Full = std::function<void(std::size_t bucket, const at::Tensor& flat)>;

  // The backward that runs next completes the gradients: from now on they go into their buckets as
  // they come. Only where no round is open.
  void begin(Full on_full);
  [[nodiscard]] bool is_open() const { return round_.has_value(); }
  // Takes what has not come by itself, zeros where a parameter got no gradient, and hands over the
  // buckets that are left. The parameters then have no gradients. Ends the round.
  [[nodiscard]] Buckets finish();

  [[nodiscard]] const BucketLayout& layout() const { return layout_; }

 private:
  void take(std::size_t parameter);
  void hand_over();

  model::Tensors parameters_;
  BucketLayout layout_;
  Full on_full_;
  std::optional<Buckets> round_;
  std::vector<bool> taken_;           // by parameter
  std::vector<std::size_t> missing_;  // by bucket: parameters not taken
  std::size_t handed_over_ = 0;       // buckets
};

}  // namespace pipedream::runtime
