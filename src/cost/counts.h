// How many items, weight versions and gradient buffers a worker keeps at its peak
// (docs/planner.md#the-cost-model: memory). These are closed forms; schedule/counts.h counts the
// same things op by op.
#pragma once

#include "cost/traits.h"

namespace pipedream::cost {

// What one worker keeps at its peak for one of its stages.
struct PeakCounts {
  int versions = 1;   // weight versions
  int gradients = 1;  // gradient buffers, each as large as the weights
  int in_flight = 1;  // items whose forward has begun and whose backward is not done
  // Items in flight, at most, while a backward accumulates: it adds to the gradients of an earlier
  // item. 0 if no backward ever does.
  int accumulating = 0;
  // True if gradients are sent to other replicas from buckets that stay allocated. Then all
  // gradient buffers exist all the time, and a layer's gradients exist twice until they are copied
  // to their bucket.
  bool buckets = false;
  // Parameter servers of asynchronous data parallelism: one on each worker; 0 for other systems. A
  // server holds its share of the weights with the optimiser state of that share, and a copy of the
  // share for each worker.
  int servers = 0;
};

// Returns `counts` with `buckets` and `servers` set for a stage of `replicas` replicas: buckets if
// gradients leave the worker, servers if the system is `asynchronous`.
[[nodiscard]] constexpr PeakCounts with_replicas(PeakCounts counts, int replicas,
                                                 bool asynchronous) {
  counts.buckets = replicas > 1 || asynchronous;
  counts.servers = asynchronous ? replicas : 0;
  return counts;
}

// What one update is computed from, on one worker (docs/systems.md#accumulation).
struct UpdateItems {
  // NOLINTNEXTLINE(google-explicit-constructor): a number of items is an update of one minibatch
  constexpr UpdateItems(int items_of_minibatch, int minibatches_of_update = 1)
      : items(items_of_minibatch), accumulate(minibatches_of_update) {}
  int items;       // that a minibatch is cut into
  int accumulate;  // minibatches of one update

  [[nodiscard]] constexpr int items_of_update() const { return items * accumulate; }
};

// Returns PeakCounts::accumulating for a stage with up to `in_flight` items in flight. If the
// system `flushes`, the first backward of an update has no gradients to add to. If all items of the
// update were in flight then, one fewer is in flight after it.
[[nodiscard]] constexpr int accumulating(int in_flight, const UpdateItems& of, bool flushes) {
  const int items = of.items_of_update();
  if (items == 1) return 0;
  return flushes && in_flight == items ? items - 1 : in_flight;
}

// Returns how many items a stage of depth `depth` may have in flight, at most. With two weight
// versions the limit is the items of one update and one more, because a further item would need a
// third version.
[[nodiscard]] int most_in_flight(const Traits& traits, int depth, const UpdateItems& of);

// Returns the fewest microbatches per minibatch for which the system's weight versions suffice to
// keep `stages` stages busy, if an update has `accumulate` minibatches: with two weight versions as
// many as give an update one microbatch per stage, else 1.
[[nodiscard]] int fewest_microbatches(const Traits& traits, int stages, int accumulate = 1);

// Returns how many weight versions d consecutive rounds use and update, if an update has K rounds:
// ⌈(d − 1)/K⌉ + 1.
[[nodiscard]] constexpr int versions_in_flight(int in_flight, int accumulate) {
  return (in_flight - 1 + accumulate - 1) / accumulate + 1;
}

// Returns how many of the newest weight versions a stage keeps whether or not an item in flight
// uses them. `first_in_flight` is the number of items that the first stage has in flight.
[[nodiscard]] int kept_versions(WeightVersions versions, int first_in_flight, int accumulate = 1);

// Returns the peak counts of one worker of a stage with `replicas` replicas and depth `depth`.
[[nodiscard]] PeakCounts peak_counts(const Traits& traits, int depth, int replicas,
                                     const UpdateItems& of);

}  // namespace pipedream::cost
