// SGD on plain arrays in one pass over memory. An update is limited by memory bandwidth, and each
// ATen operation would read and write all arrays again. The code uses no tensors, so that it can be
// compiled with its own flags.
#pragma once

#include <cstddef>

namespace pipedream::train {

struct SgdFactors {
  float learning_rate = 0;
  float momentum = 0;
  float weight_decay = 0;
  float divisor = 1;  // the gradient is divided by this first
};

struct SgdArrays {
  const float* from = nullptr;      // weights to read
  const float* gradient = nullptr;  // read only
  float* velocity = nullptr;        // momentum buffer, updated in place; null: no momentum
  float* to = nullptr;              // weights to write: equal to `from`, or overlaps no other array
  std::size_t count = 0;            // elements of each array
};

// Whether this machine has fused multiply-add instructions, which ATen's kernels use. Without them
// sgd_pass() would either give other bits than ATen or be slow.
[[nodiscard]] bool can_sgd_pass();

// One SGD step. Requires can_sgd_pass(). Rounds exactly where ATen's operations round:
//   g / divisor;  g + decay·w fused;  momentum·v, then + g;  w − rate·v fused
void sgd_pass(const SgdFactors& factors, const SgdArrays& arrays);

}  // namespace pipedream::train
