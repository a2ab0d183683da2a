#include "cost/counts.h"

#include <algorithm>

namespace pipedream::cost {

int most_in_flight(const Traits& traits, int depth, const UpdateItems& of) {
  switch (traits.in_flight) {
    case InFlight::kOne:
      return 1;
    case InFlight::kMinibatch:
      return of.items;
    case InFlight::kDepth:
      break;
  }
  const int items = of.items_of_update();
  if (traits.flushes) return std::min(depth, items);
  return traits.versions == WeightVersions::kTwo ? std::min(depth, items + 1) : depth;
}

int fewest_microbatches(const Traits& traits, int stages, int accumulate) {
  return traits.versions == WeightVersions::kTwo ? (stages + accumulate - 1) / accumulate : 1;
}

int kept_versions(WeightVersions versions, int first_in_flight, int accumulate) {
  switch (versions) {
    case WeightVersions::kTwo:
      return 2;
    case WeightVersions::kVerticalSync:
      return versions_in_flight(first_in_flight, accumulate);
    case WeightVersions::kOne:
    case WeightVersions::kStashed:
    case WeightVersions::kUnstashed:
      break;
  }
  return 1;
}

PeakCounts peak_counts(const Traits& traits, int depth, int replicas, const UpdateItems& of) {
  PeakCounts counts;
  counts.in_flight = most_in_flight(traits, depth, of);
  const bool stashes = traits.versions == WeightVersions::kStashed;
  counts.versions = stashes ? versions_in_flight(counts.in_flight, of.accumulate)
                            : kept_versions(traits.versions, counts.in_flight, of.accumulate);
  // Without a flush, replicas average the gradients of one update while they compute the next.
  counts.gradients = !traits.flushes && replicas > 1 ? 2 : 1;
  counts.accumulating = accumulating(counts.in_flight, of, traits.flushes);
  return with_replicas(counts, replicas, traits.asynchronous);
}

}  // namespace pipedream::cost
