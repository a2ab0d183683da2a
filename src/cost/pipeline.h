// How long a pipeline takes, in closed form (SYSTEMS §1 and §2). Communication between two stages
// counts as a stage of its own: it runs beside compute, on its own lane.
#pragma once

#include <span>
#include <vector>

#include "core/units.h"

namespace pipedream::cost {

// One stage, or one transfer, for one item.
struct PipelineStep {
  Seconds forward{0};
  Seconds backward{0};
};

// All forwards of `items`, then all backwards: identical jobs through a line of machines take the
// sum over the line once and the slowest machine for each further job.
[[nodiscard]] Seconds gpipe_latency(std::span<const PipelineStep> steps, int items);

// DAPPLE's latency around the pivot, the step with the least bubble. `exchange` has one entry per
// step: the averaging of its weights after its last backward (0 for transfers). No step waits
// longer than `loop` between two items (loop_limit).
[[nodiscard]] Seconds dapple_latency(std::span<const PipelineStep> steps,
                                     std::span<const Seconds> exchange, int items, Seconds loop);

// An item that stage i holds comes back after passing all that follows, forth and back; with
// depth d_i per replica no more than r_i·d_i items are on that way. So between two items there is
// at least the way's time divided by r_i·d_i.
[[nodiscard]] constexpr Seconds loop_limit(Seconds way, int replicas, int depth) {
  return way / (static_cast<double>(replicas) * depth);
}

// A bulk-synchronous step: forward, then backward from the last layer to the first, while the
// gradients of finished layers are averaged already. One entry per layer, in forward order.
[[nodiscard]] Seconds overlapped_step(std::span<const PipelineStep> layers,
                                      std::span<const Seconds> exchange);

}  // namespace pipedream::cost
