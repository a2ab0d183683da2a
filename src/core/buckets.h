// How gradients are grouped into buckets for averaging. Buckets fill while the backward runs from
// the last layer to the first (docs/runtime.md#data-parallelism).
#pragma once

#include "core/units.h"

namespace pipedream {

// The size from which a bucket counts as full. The first bucket is small, so that averaging begins
// early; the others are large. Both are those of PyTorch's DistributedDataParallel.
struct BucketSizes {
  Bytes first{1 << 20};
  Bytes others{25 << 20};
  // A gradient of at least this size is a bucket by itself, so that it need not be copied into one.
  Bytes alone{4 << 20};
};

// Decides where each bucket ends. The caller passes the sizes of the gradients in the order in
// which the backward completes them.
class BucketRule {
 public:
  explicit BucketRule(const BucketSizes& sizes = {}) : sizes_(sizes), full_(sizes.first) {}

  // Whether a gradient of this size is a bucket by itself. The others are joined.
  [[nodiscard]] bool is_alone(Bytes gradient) const { return gradient >= sizes_.alone; }

  // Adds `gradient` bytes to the bucket that joins the gradients of this time. Returns true if it
  // is now full; the next gradient then goes into a new bucket.
  [[nodiscard]] bool fills(Bytes gradient) {
    filled_ += gradient;
    if (filled_ < full_) return false;
    filled_ = Bytes{0};
    full_ = sizes_.others;
    return true;
  }

 private:
  BucketSizes sizes_;
  Bytes full_;
  Bytes filled_;
};

}  // namespace pipedream
