// How long a pipeline takes, in closed form (docs/planner.md#the-cost-model). The transfer between
// two stages counts as a step of its own, because it runs at the same time as compute.
#pragma once

#include <span>
#include <vector>

#include "core/units.h"

namespace pipedream::cost {

// The time of one item on one stage, or on one transfer between stages.
struct PipelineStep {
  Seconds forward{0};
  Seconds backward{0};
};

// Returns the time of all forwards of `items` items through all steps, then all backwards. The
// first item takes the sum over the steps, and every further item the time of the slowest step, but
// at least `beside`, the time of what runs beside the steps.
[[nodiscard]] Seconds gpipe_latency(std::span<const PipelineStep> steps, int items,
                                    Seconds beside = Seconds(0));

// Returns DAPPLE's latency of one update with `items` items, counted around the pivot, the step
// with the least bubble. `exchange` has one entry per step: the time of averaging its gradients
// after its last backward, 0 for transfers. In the steady phase, two items are at least `loop`
// apart (loop_limit).
[[nodiscard]] Seconds dapple_latency(std::span<const PipelineStep> steps,
                                     std::span<const Seconds> exchange, int items, Seconds loop);

// Returns the least time between two items of a stage with `replicas` replicas of depth `depth`.
// `way` is the time of an item through the stage and all later ones, forth and back. Since
// `replicas`·`depth` items at most are on that way, two of them are at least `way` /
// (`replicas`·`depth`) apart.
[[nodiscard]] constexpr Seconds loop_limit(Seconds way, int replicas, int depth) {
  return way / (static_cast<double>(replicas) * depth);
}

// Returns the time of a bulk-synchronous step: all forwards, then the backwards from the last layer
// to the first, while the gradients of finished layers are averaged, one averaging after the other.
// Both arguments have one entry per layer, in forward order.
[[nodiscard]] Seconds overlapped_step(std::span<const PipelineStep> layers,
                                      std::span<const Seconds> exchange);

}  // namespace pipedream::cost
