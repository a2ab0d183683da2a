#include "cost/depths.h"

#include <algorithm>
#include <cstdint>

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
  int low = 1;  // bisects the slack, which is always smaller than the first stage's depth
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

std::vector<int> chosen_depths(const Traits& traits, std::vector<int> replicas,
                               const DepthChoice& choice) {
  if (traits.shares_items()) replicas.assign(replicas.size(), 1);
  switch (choice.depth) {
    case Depth::kNoam:
      return noam_depths(replicas);
    case Depth::kUpTo:
      return depths_up_to(replicas, choice.most);
    case Depth::kBest:
      break;
  }
  return pipeline_depths(replicas, choice.slack);
}

}  // namespace pipedream::cost
