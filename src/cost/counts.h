// How many items, weight versions and gradient buffers a worker keeps at its peak. Closed forms:
// nothing is simulated here. The simulator counts the same things op by op (schedule/counts.h).
#pragma once

#include "cost/traits.h"

namespace pipedream::cost {

// What one worker keeps at its peak, for one of its stages.
struct PeakCounts {
  int versions = 1;   // of the weights
  int gradients = 1;  // buffers as large as the weights
  int in_flight = 1;  // items between forward and backward
  // Items in flight while a backward adds to gradients that another item has left. 0: no backward
  // ever does.
  int accumulating = 0;
  // Gradients are sent to other replicas from buckets that stay allocated. So no gradient buffer is
  // ever free, and a layer's gradients exist twice until they are copied to their bucket.
  bool buckets = false;
  // Asynchronous data parallelism: the number of workers. Each of them serves its share of the
  // weights with the optimiser's state, and keeps a copy of that share for each worker. 0: there
  // are no parameter servers.
  int servers = 0;
};

// `counts` with what replicas add: buckets, and parameter servers where workers are asynchronous.
[[nodiscard]] constexpr PeakCounts with_replicas(PeakCounts counts, int replicas,
                                                 bool asynchronous) {
  counts.buckets = replicas > 1 || asynchronous;
  counts.servers = asynchronous ? replicas : 0;
  return counts;
}

// PeakCounts::accumulating for a stage with `in_flight` items of a minibatch cut into `items`. With
// a flush after every update, the first backward of a minibatch finds no gradients to add to, and
// one item less is in flight after it.
[[nodiscard]] constexpr int accumulating(int in_flight, int items, bool flushes) {
  if (items == 1) return 0;
  return flushes && in_flight == items ? items - 1 : in_flight;
}

// The most items that a stage of that depth may have in flight, where a minibatch is cut into
// `items`. With two weight versions that is a minibatch and one item: the item after those would
// need a third version.
[[nodiscard]] int most_in_flight(const Traits& traits, int depth, int items);

// The fewest microbatches for which `stages` stages keep busy with the weight versions that there
// are: with two versions one microbatch per stage, else 1.
[[nodiscard]] int fewest_microbatches(const Traits& traits, int stages);

// The newest weight versions that a stage keeps whether an item uses them or not. `first_in_flight`
// is the number of items that the first stage has in flight.
[[nodiscard]] int kept_versions(WeightVersions versions, int first_in_flight);

// For one of `replicas` of a stage that the pipeline allows `depth` items in flight.
[[nodiscard]] PeakCounts peak_counts(const Traits& traits, int depth, int replicas, int items);

}  // namespace pipedream::cost
