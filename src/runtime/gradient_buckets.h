// Collects the weight gradients of one stage in buckets, as PyTorch's DistributedDataParallel does.
// A bucket is handed over, to be all-reduced or sent to parameter servers, as soon as a backward
// has filled it (docs/runtime.md: Data parallelism).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/buckets.h"
#include "core/even_part.h"
#include "model/layer.h"

namespace pipedream::runtime {

// One set of buffers that holds a gradient for every parameter of a stage.
struct Buckets {
  model::Tensors flat;   // by bucket: its memory, one-dimensional; undefined until it is needed
  model::Tensors views;  // by parameter: its gradient, a view into one of `flat`
};

// Says which parameters of a stage share a bucket. Buckets are in the order in which a backward
// completes them, which begins with the last layer, and within a layer with the last parameter. All
// parameters of a layer are in the same bucket, but for large ones, which have a bucket each.
class BucketLayout {
 public:
  // `parameters` are those of all layers in their order, and `per_layer` has the number of
  // parameters of each layer.
  BucketLayout(const model::Tensors& parameters, const std::vector<std::size_t>& per_layer,
               const BucketSizes& sizes);

  // The number of buckets.
  [[nodiscard]] std::size_t buckets() const { return members_.size(); }
  // The indices of the parameters in `bucket`, in the order in which they lie there.
  [[nodiscard]] const std::vector<std::size_t>& parameters(std::size_t bucket) const {
    return members_[bucket];
  }
  [[nodiscard]] std::size_t bucket_of(std::size_t parameter) const { return bucket_of_[parameter]; }
  // The number of floats in `bucket`.
  [[nodiscard]] std::int64_t floats(std::size_t bucket) const { return floats_[bucket]; }
  // The floats `range` of one parameter, counted as they lie in memory.
  struct Piece {
    std::size_t parameter = 0;
    Range range;
    friend bool operator==(const Piece&, const Piece&) = default;
  };
  // The pieces of parameters that the floats `range` of `bucket` consist of, in order.
  [[nodiscard]] std::vector<Piece> pieces(std::size_t bucket, const Range& range) const;
  // New, uninitialised memory of one bucket on the parameters' device, in `made`. Each view has the
  // strides of its parameter if these are dense, and is contiguous otherwise.
  void allocate(std::size_t bucket, Buckets& made) const;
  // Whether `gradient` of `parameter` may itself be its bucket: the parameter is alone in the
  // bucket, and nobody else uses the memory, which holds the gradient as a view would.
  [[nodiscard]] bool is_bucket(std::size_t parameter, const at::Tensor& gradient) const;

 private:
  // The shape of a parameter's view.
  struct Form {
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
    [[nodiscard]] std::int64_t floats() const { return c10::multiply_integers(sizes); }
  };
  void add_bucket(std::vector<std::size_t> members);

  at::Device device_{at::kCPU};
  std::vector<Form> forms_;                        // by parameter
  std::vector<std::size_t> bucket_of_;             // by parameter
  std::vector<std::vector<std::size_t>> members_;  // by bucket: indices of parameters
  std::vector<std::int64_t> floats_;               // by bucket
};

// Fills the buckets of one stage while its backwards run. The gradients of one update are a round:
// backwards accumulate in the buckets, begin() announces the last backward, and finish() ends the
// round.
//
// Owned by one worker and used from its thread. Autograd's hooks may call in from another thread
// while the worker's thread waits for autograd. The parameters outlive it.
//  1. When autograd has a parameter's gradient, it is added to the parameter's bucket and removed
//     from the parameter. So parameters keep no gradients between backwards. The first gradient of
//     a round becomes the bucket where it can (BucketLayout::is_bucket), and is copied elsewhere.
//  2. Buffers are pooled. The pool grows to the largest number of Buckets that are between finish()
//     and give_back() at one time, plus the one being filled.
class GradientBuckets {
 public:
  GradientBuckets(model::Tensors parameters, BucketLayout layout);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  // Receives a bucket whose gradients are complete. Called for all buckets, in ascending order.
  using Full = std::function<void(std::size_t bucket, const at::Tensor& flat)>;

  // Announces that the next backward completes the round's gradients: from now on each bucket is
  // passed to `on_full` when it is complete. Requires that begin() has not been called in this
  // round yet.
  void begin(Full on_full);
  // Whether begin() has been called and finish() has not.
  [[nodiscard]] bool is_open() const { return on_full_ != nullptr; }
  // Ends the round: passes the remaining buckets to `on_full`, with zeros for parameters that got
  // no gradient, and returns the round's buffers. Requires is_open().
  [[nodiscard]] Buckets finish();
  // Returns to the pool what finish() returned. Nobody may use `buckets` afterwards.
  void give_back(Buckets buckets) { free_.push_back(std::move(buckets)); }

  [[nodiscard]] const BucketLayout& layout() const { return layout_; }

 private:
  // Moves the parameter's gradient into its bucket.
  void take(std::size_t parameter);
  // Notes that the parameter's gradient is complete, and hands over the buckets that are complete.
  void complete(std::size_t parameter);
  // The buffers being filled; takes some from the pool if there are none.
  [[nodiscard]] Buckets& filling();
  // Where the parameter's gradient is collected in filling().
  [[nodiscard]] const at::Tensor& view(std::size_t parameter);

  model::Tensors parameters_;
  BucketLayout layout_;
  std::vector<Buckets> free_;         // the pool
  std::optional<Buckets> filling_;    // none until the round's first gradient
  std::vector<bool> filled_;          // by parameter: whether `filling_` has a gradient for it
  Full on_full_;                      // empty unless is_open()
  std::vector<bool> completed_;       // by parameter: whether its gradient is complete
  std::vector<std::size_t> missing_;  // by bucket: the number of parameters not complete
  std::size_t handed_over_ = 0;       // the number of buckets passed to `on_full_` in this round
};

}  // namespace pipedream::runtime
