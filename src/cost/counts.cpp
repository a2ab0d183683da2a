#include "cost/counts.h"

#include <algorithm>

namespace pipedream::cost {

int most_in_flight(const Traits& traits, int depth, int items) {
  switch (traits.in_flight) {
    case InFlight::kOne:
      return 1;
    case InFlight::kMinibatch:
      return items;
    case InFlight::kDepth:
      break;
  }
  if (traits.flushes) return std::min(depth, items);
  return traits.versions == WeightVersions::kTwo ? std::min(depth, items + 1) : depth;
}

int fewest_microbatches(const Traits& traits, int stages) {
  return traits.versions == WeightVersions::kTwo ? stages : 1;
}

int kept_versions(WeightVersions versions, int first_in_flight) {
  switch (versions) {
    case WeightVersions::kTwo:
      return 2;
    case WeightVersions::kVerticalSync:
      return first_in_flight;
    case WeightVersions::kOne:
    case WeightVersions::kStashed:
    case WeightVersions::kUnstashed:
      break;
  }
  return 1;
}

PeakCounts peak_counts(const Traits& traits, int depth, int replicas, int items) {
  PeakCounts counts;
  counts.in_flight = most_in_flight(traits, depth, items);
  const bool stashes = traits.versions == WeightVersions::kStashed;
  counts.versions = stashes ? counts.in_flight : kept_versions(traits.versions, counts.in_flight);
  // Without a flush, replicas average the gradients of one round while they compute the next.
  counts.gradients = !traits.flushes && replicas > 1 ? 2 : 1;
  counts.accumulating = accumulating(counts.in_flight, items, traits.flushes);
  return with_replicas(counts, replicas, traits.asynchronous);
}

}  // namespace pipedream::cost
