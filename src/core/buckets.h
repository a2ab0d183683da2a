// Gradients are averaged in buckets, which fill up while a backward runs from the last layer to the
// first.
#pragma once

#include "core/units.h"

namespace pipedream {

// From which size on a bucket is full. The first is small, so that averaging begins early, and the
// others large, as in PyTorch's data parallelism.
struct BucketSizes {
  Bytes first{1 << 20};
  Bytes others{25 << 20};
};

// Decides, gradient by gradient in the order of their release, where a bucket ends.
class BucketRule {
 public:
  explicit BucketRule(const BucketSizes& sizes = {}) : sizes_(sizes), full_(sizes.first) {}

  // True when the bucket is full with it: the next gradient opens another.
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
