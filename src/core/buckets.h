// How gradients are grouped into buckets for averaging. Buckets fill while the backward runs from
// the last layer to the first (docs/runtime.md#data-parallelism).
#pragma once

#include "core/units.h"

namespace pipedream {

// The size from which a bucket counts as full. The first bucket is small, so that averaging begins
// early; the others are large. The defaults are those of PyTorch's DistributedDataParallel.
struct BucketSizes {
  Bytes first{1 << 20};
  Bytes others{25 << 20};
};

// Decides where each bucket ends. The caller passes the size of each layer's gradients in the order
// in which the backward completes them.
class BucketRule {
 public:
  explicit BucketRule(const BucketSizes& sizes = {}) : sizes_(sizes), full_(sizes.first) {}

  // Adds `gradient` bytes to the current bucket. Returns true if the bucket is now full; the next
  // gradient then goes into a new bucket.
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
