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

// Returns PeakCounts::accumulating for a stage with up to `in_flight` items in flight, if a
// minibatch is cut into `items` items. If the system `flushes`, the first backward of a minibatch
// has no gradients to add to, and one item fewer is in flight after it.
[[nodiscard]] constexpr int accumulating(int in_flight, int items, bool flushes) {
  if (items == 1) return 0;
  return flushes && in_flight == items ? items - 1 : in_flight;
}

// Returns how many items a stage of depth `depth` may have in flight, at most, if a minibatch is
// cut into `items` items. With two weight versions the limit is one minibatch and one item, because
// a further item would need a third version.
[[nodiscard]] int most_in_flight(const Traits& traits, int depth, int items);

// Returns the fewest microbatches per minibatch for which the system's weight versions suffice to
// keep `stages` stages busy: one per stage with two weight versions, else 1.
[[nodiscard]] int fewest_microbatches(const Traits& traits, int stages);

// Returns how many of the newest weight versions a stage keeps whether or not an item in flight
// uses them. `first_in_flight` is the number of items that the first stage has in flight.
[[nodiscard]] int kept_versions(WeightVersions versions, int first_in_flight);

// Returns the peak counts of one worker of a stage with `replicas` replicas and depth `depth`, if a
// minibatch is cut into `items` items.
[[nodiscard]] PeakCounts peak_counts(const Traits& traits, int depth, int replicas, int items);

}  // namespace pipedream::cost
