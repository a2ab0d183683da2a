// The interface by which workers read samples (docs/runtime.md: Data).
#pragma once

#include "model/network.h"
#include "schedule/ops.h"

namespace pipedream::runtime {

// The samples of the items of one schedule. Every worker asks for its own samples, and equal
// questions get equal answers on all workers. Safe to use from several threads.
class Feed {
 public:
  virtual ~Feed() = default;

  // The number of samples of `item`, over all replicas; at least 1.
  [[nodiscard]] virtual std::int64_t samples(const schedule::Item& item) const = 0;
  // The number of samples of a whole minibatch.
  [[nodiscard]] virtual std::int64_t minibatch_samples(std::int64_t minibatch) const = 0;
  // The number of samples trained before `minibatch`, over all epochs.
  [[nodiscard]] virtual std::int64_t samples_before(std::int64_t minibatch) const = 0;

  // The content of the network's `input` for the samples [first, first + count) of `item`.
  // Dimension 0 of the tensor is the sample.
  [[nodiscard]] virtual at::Tensor load(const model::InputSpec& input, const schedule::Item& item,
                                        std::int64_t first, std::int64_t count) const = 0;
};

}  // namespace pipedream::runtime
