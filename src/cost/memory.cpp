#include "cost/memory.h"

#include <algorithm>
#include <cmath>

namespace pipedream::cost {

namespace {

constexpr double kMostBytes = 1e17;  // more than any device has; sums of it do not overflow

// Returns `bytes`·`factor`, rounded up. A product that is a whole number but for rounding errors is
// not rounded up.
Bytes times(Bytes bytes, double factor) {
  const double product = static_cast<double>(bytes.count) * factor;
  const double nearest = std::round(product);
  const bool is_whole = std::abs(product - nearest) < 1e-6;
  const double rounded = is_whole ? nearest : std::ceil(product);
  return Bytes{static_cast<std::int64_t>(std::min(rounded, kMostBytes))};
}

// The memory of a stage at different moments while an item runs. Keeps references to its arguments.
class Moments {
 public:
  Moments(const StageSize& size, const PeakCounts& counts, const MemoryRule& rule)
      : size_(size), counts_(counts), rule_(rule) {}

  // Returns the memory with `in_flight` items in flight, as if all of it existed at once.
  [[nodiscard]] MemoryUse all(int in_flight) const {
    const double items = in_flight * rule_.share;
    const double served = counts_.servers > 0 ? 1.0 / counts_.servers : 0;
    const double updated = counts_.servers > 0 ? served : 1;
    return {.weights = times(size_.weights, counts_.versions) + times(size_.weights, served) +
                       (counts_.servers > 0 ? size_.weights : Bytes{0}),
            .gradients = times(size_.weights, counts_.gradients),
            .optimiser = times(size_.weights, rule_.optimiser_copies * updated),
            .activations = times(size_.received, items) +
                           times(size_.held, rule_.recompute ? rule_.share : items),
            .buffers = times(size_.received, 2 * rule_.share),
            .working = times(size_.working, rule_.share)};
  }

  // Returns the memory between two ops of the stage.
  [[nodiscard]] MemoryUse resting() const {
    MemoryUse now = all(counts_.in_flight);
    if (rule_.recompute) now.activations = times(size_.received, counts_.in_flight * rule_.share);
    now.buffers = now.working = Bytes{0};
    return now;
  }

  // Returns the memory at the moment of the largest total, while one layer runs forward or
  // backward.
  [[nodiscard]] MemoryUse peak() const {
    MemoryUse most;
    const auto look_at = [&](const MemoryUse& now) {
      if (now.total() > most.total()) most = now;
    };
    const MemoryUse first = all(counts_.in_flight);
    const MemoryUse later = all(counts_.accumulating);
    // Gradients before the item's backward. `others`: an earlier item has left gradients, to which
    // the backward adds. `none`: no earlier item has, and one buffer fewer exists, because the
    // backward allocates it layer by layer.
    const Bytes others = first.gradients;
    const Bytes none = others - size_.weights;
    Bytes behind;       // weights of this layer and all later ones
    Bytes held_behind;  // activations that all later layers hold
    for (std::size_t i = size_.layers.size(); i-- > 0;) {
      const LayerSize& layer = size_.layers[i];
      behind += layer.weights;
      const auto look_at_turn = [&](const MemoryUse& item, Bytes in_forward, Bytes in_backward) {
        look_at(in_turn(item, in_backward, held_behind, layer.working));
        look_at(in_turn(item, in_forward, held_behind + layer.held, layer.forward_working));
      };
      if (counts_.buckets) {
        look_at_turn(first, others, others + layer.weights);
      } else {
        look_at_turn(first, none, none + behind);
        if (counts_.accumulating > 0) look_at_turn(later, others, others + layer.weights);
      }
      held_behind += layer.held;
    }
    return most;
  }

 private:
  // Returns `now` changed to the moment when one layer runs: with `gradients` bytes of gradients,
  // without `absent` bytes of a minibatch's activations, which the item does not hold, and with the
  // layer's `working` memory.
  [[nodiscard]] MemoryUse in_turn(MemoryUse now, Bytes gradients, Bytes absent,
                                  const profile::Working& working) const {
    now.gradients = gradients;
    now.activations = now.activations - times(absent, rule_.share);
    now.working = working.fixed + times(working.all - working.fixed, rule_.share);
    return now;
  }

  const StageSize& size_;
  const PeakCounts& counts_;
  const MemoryRule& rule_;
};

}  // namespace

MemoryUse stage_memory(const StageSize& size, const PeakCounts& counts, const MemoryRule& rule) {
  const Moments moments(size, counts, rule);
  return size.layers.empty() ? moments.all(counts.in_flight) : moments.peak();
}

MemoryUse resting_memory(const StageSize& size, const PeakCounts& counts, const MemoryRule& rule) {
  return Moments(size, counts, rule).resting();
}

}  // namespace pipedream::cost
