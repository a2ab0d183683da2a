// The gradients of one stage on their way to others: in buckets, each handed over as soon as a
// backward has filled it (core/buckets.h).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/buckets.h"
#include "core/even_part.h"
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
  [[nodiscard]] std::int64_t floats(std::size_t bucket) const { return floats_[bucket]; }
  // Of a parameter: its floats `range`.
  struct Piece {
    std::size_t parameter = 0;
    Range range;
    friend bool operator==(const Piece&, const Piece&) = default;
  };
  // What these floats of a bucket are, in their order.
  [[nodiscard]] std::vector<Piece> pieces(std::size_t bucket, const Range& range) const;
  // New ones, where the parameters are; a parameter's part lies as the parameter does.
  [[nodiscard]] Buckets allocate() const;

 private:
  struct Form {
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
    [[nodiscard]] std::int64_t floats() const { return c10::multiply_integers(sizes); }
  };
  at::Device device_{at::kCPU};
  std::vector<Form> forms_;  // by parameter
  std::vector<std::size_t> bucket_of_;
  std::vector<std::vector<std::size_t>> members_;
  std::vector<std::int64_t> floats_;
};

// Owned by one worker and used by its thread; autograd may call in from another while that thread
// waits for it. The parameters outlive it.
//  1. A parameter's gradient goes into its bucket as soon as autograd has it, and is added to what
//     earlier backwards of the round left there: the parameters themselves keep none.
//  2. There are as many buffers as were ever away at once, and one: they are used again.
class GradientBuckets {
 public:
  GradientBuckets(model::Tensors parameters, BucketLayout layout);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  // Takes a bucket whose gradients are all there; called for each in order.
  using Full = std::function<void(std::size_t bucket, const at::Tensor& flat)>;

  // The backward that runs next completes the gradients: buckets are handed over as they fill. Only
  // where no round is open.
  void begin(Full on_full);
  [[nodiscard]] bool is_open() const { return on_full_ != nullptr; }
  // Hands over the buckets that are left, with zeros where a parameter got no gradient, and ends
  // the round.
  [[nodiscard]] Buckets finish();
  // What finish() gave, to be filled again; nobody else has any business with it then.
  void give_back(Buckets buckets) { free_.push_back(std::move(buckets)); }

  [[nodiscard]] const BucketLayout& layout() const { return layout_; }

 private:
  void take(std::size_t parameter);
  void complete(std::size_t parameter);
  [[nodiscard]] Buckets& filling();

  model::Tensors parameters_;
  BucketLayout layout_;
  std::vector<Buckets> free_;
  std::optional<Buckets> filling_;    // once a gradient has come
  std::vector<bool> filled_;          // by parameter: has a gradient there
  Full on_full_;                      // while a round is open
  std::vector<bool> completed_;       // by parameter
  std::vector<std::size_t> missing_;  // by bucket: parameters not complete
  std::size_t handed_over_ = 0;       // buckets
};

}  // namespace pipedream::runtime
