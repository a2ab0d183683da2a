// SGD on plain arrays in one pass over memory: these updates wait for memory, and each operation of
// ATen reads and writes it all again. Knows no tensors, so that it compiles by flags of its own.
#pragma once

#include <cstddef>

namespace pipedream::train {

struct SgdFactors {
  float learning_rate = 0;
  float momentum = 0;
  float weight_decay = 0;
  float divisor = 1;  // of the gradient
};

struct SgdArrays {
  const float* from = nullptr;
  const float* gradient = nullptr;
  float* velocity = nullptr;  // null: without momentum
  float* to = nullptr;        // may be `from`; else apart from all others
  std::size_t count = 0;
};

// Whether this machine multiplies and adds in one instruction, as ATen's kernels do: without, the
// pass would give other bits or be slow.
[[nodiscard]] bool can_sgd_pass();

// Requires can_sgd_pass(). Rounds exactly where the operations of ATen do:
// g / divisor; g + decay·w fused; momentum·v, then + g; w − rate·v fused.
void sgd_pass(const SgdFactors& factors, const SgdArrays& arrays);

}  // namespace pipedream::train
