// Where workers get their samples from.
#pragma once

#include "model/network.h"
#include "schedule/ops.h"

namespace pipedream::runtime {

// Cuts a stream of samples into the items of one schedule. Every worker asks for itself, and all
// get the same answers. Safe to use from several threads.
class Feed {
 public:
  virtual ~Feed() = default;

  // How many samples the item has; at least 1.
  [[nodiscard]] virtual std::int64_t samples(const schedule::Item& item) const = 0;
  // How many its whole minibatch has.
  [[nodiscard]] virtual std::int64_t minibatch_samples(std::int64_t minibatch) const = 0;

  // What the network's input reads for the samples [first, first + count) of the item, along
  // dimension 0.
  [[nodiscard]] virtual at::Tensor load(const model::InputSpec& input, const schedule::Item& item,
                                        std::int64_t first, std::int64_t count) const = 0;
};

}  // namespace pipedream::runtime
