#include "cost/memory.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace pipedream::cost {

std::vector<int> pipeline_depths(std::span<const int> replicas, int slack) {
  std::vector<int> depths(replicas.size(), 1);
  for (std::size_t i = replicas.size(); i-- > 1;) {
    const std::int64_t behind = std::int64_t{replicas[i]} * depths[i];
    const std::int64_t here = replicas[i - 1];
    const std::int64_t depth = (behind + here - 1) / here + slack;
    depths[i - 1] = static_cast<int>(std::min<std::int64_t>(depth, kMostInFlight));
  }
  return depths;
}

std::vector<int> depths_up_to(std::span<const int> replicas, int most) {
  std::vector<int> depths = pipeline_depths(replicas, 1);
  if (replicas.size() < 2) return depths;
  int low = 1;  // the first stage's depth grows with the slack, by at least as much
  int high = std::max(1, most);
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (pipeline_depths(replicas, middle).front() <= most)
      low = middle;
    else
      high = middle - 1;
  }
  if (low > 1) depths = pipeline_depths(replicas, low);
  for (int& depth : depths) depth = std::min(depth, most);
  return depths;
}

std::vector<int> noam_depths(std::span<const int> replicas) {
  std::vector<int> depths(replicas.size());
  int downstream = 0;
  for (std::size_t i = replicas.size(); i-- > 0; downstream += replicas[i])
    depths[i] = noam(downstream, replicas[i]);
  return depths;
}

Counts peak_counts(Rule rule, int depth, int replicas, int items) {
  switch (rule) {
    case Rule::kModelParallel:
    case Rule::kDataParallel:
    case Rule::kAsynchronous:
      return {};
    case Rule::kGpipe:
      return {.in_flight = items};
    case Rule::kDapple:
    case Rule::kInterleaved:
      return {.in_flight = std::min(depth, items)};
    case Rule::kPipedream:  // replicas average one round while the next is computed
      return {.versions = depth, .gradients = replicas > 1 ? 2 : 1, .in_flight = depth};
    case Rule::kTwoBuffered:  // a third version would be needed for more than one batch and one
                              // item
      return {.versions = 2,
              .gradients = replicas > 1 ? 2 : 1,
              .in_flight = std::min(depth, items + 1)};
  }
  PD_CHECK(false && "a rule without counts");
  return {};
}

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

}  // namespace

MemoryUse stage_memory(const StageSize& size, const Counts& counts, const MemoryRule& rule) {
  const double in_flight = counts.in_flight * rule.share;
  MemoryUse use;
  use.weights = times(size.weights, counts.versions);
  use.gradients = times(size.weights, counts.gradients);
  use.optimiser = times(size.weights, rule.optimiser_copies);
  use.activations =
      times(size.received, in_flight) + times(size.held, rule.recompute ? rule.share : in_flight);
  use.buffers = times(size.received, 2 * rule.share);
  use.working = times(size.working, rule.share);
  return use;
}

}  // namespace pipedream::cost
