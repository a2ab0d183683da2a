#include "cost/memory.h"

#include <algorithm>
#include <cmath>

namespace pipedream::cost {

namespace {

constexpr double kMostBytes = 1e17;  // more than any device has; the sum of all parts is in range

// Rounded up, but not for what the last bit of a product says.
Bytes times(Bytes bytes, double factor) {
  const double product = static_cast<double>(bytes.count) * factor;
  const double nearest = std::round(product);
  const bool is_whole = std::abs(product - nearest) < 1e-6;
  const double rounded = is_whole ? nearest : std::ceil(product);
  return Bytes{static_cast<std::int64_t>(std::min(rounded, kMostBytes))};
}

// What is there of each kind while an item is computed: everything, or one layer's turn after the
// other.
class Moments {
 public:
  Moments(const StageSize& size, const PeakCounts& counts, const MemoryRule& rule)
      : size_(size), counts_(counts), rule_(rule) {}

  // With so many items in flight, all at once.
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

  // Between two of its ops.
  [[nodiscard]] MemoryUse resting() const {
    MemoryUse now = all(counts_.in_flight);
    if (rule_.recompute) now.activations = times(size_.received, counts_.in_flight * rule_.share);
    now.buffers = now.working = Bytes{0};
    return now;
  }

  // The moment when most is there.
  [[nodiscard]] MemoryUse peak() const {
    MemoryUse most;
    const auto look_at = [&](const MemoryUse& now) {
      if (now.total() > most.total()) most = now;
    };
    const MemoryUse first = all(counts_.in_flight);
    const MemoryUse later = all(counts_.accumulating);
    const Bytes others = first.gradients;  // with those that another item's backward has left
    const Bytes none = others - size_.weights;
    Bytes behind;       // weights of the layers behind this one, and its own
    Bytes held_behind;  // what those behind it keep
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
  // A layer's turn: what is not there of the item, and what it works with.
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
