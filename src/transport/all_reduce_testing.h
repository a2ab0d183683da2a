// The sums that all_reduce() promises, computed by one thread. Only tests include this.
#pragma once

#include <span>
#include <vector>

#include "core/hosts.h"
#include "transport/all_reduce.h"

namespace pipedream::transport {

// The sums of values[member], in the order that ring.h states for one level.
[[nodiscard]] inline std::vector<float> ring_order_sum(
    const std::vector<std::vector<float>>& values) {
  const std::size_t r = values.size(), n = values.front().size();
  std::vector<float> sums(n);
  for (std::size_t c = 0; c < r; ++c) {
    for (std::size_t i = n * c / r; i < n * (c + 1) / r; ++i) {
      sums[i] = values[c][i];
      for (std::size_t step = 1; step < r; ++step) sums[i] += values[(c + step) % r][i];
    }
  }
  return sums;
}

// The sums of values[member], in the order that shards.h states.
[[nodiscard]] inline std::vector<float> shard_order_sum(
    const std::vector<std::vector<float>>& values) {
  std::vector<float> sums = values.front();
  for (std::size_t m = 1; m < values.size(); ++m)
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values[m][i];
  return sums;
}

// The sums of values[host][member], in the order that ring.h states for two levels.
[[nodiscard]] inline std::vector<float> two_ring_order_sum(
    const std::vector<std::vector<std::vector<float>>>& values) {
  std::vector<std::vector<float>> of_host;
  for (const auto& host : values) of_host.push_back(ring_order_sum(host));
  const std::size_t k = values.front().size(), n = of_host.front().size();
  std::vector<float> sums;
  for (std::size_t c = 0; c < k; ++c) {
    std::vector<std::vector<float>> chunk;
    for (const std::vector<float>& sum : of_host)
      chunk.emplace_back(sum.begin() + static_cast<std::ptrdiff_t>(n * c / k),
                         sum.begin() + static_cast<std::ptrdiff_t>(n * (c + 1) / k));
    const std::vector<float> whole = ring_order_sum(chunk);
    sums.insert(sums.end(), whole.begin(), whole.end());
  }
  return sums;
}

// What all_reduce() gives with an exchange of one level. values[i] are those of member i.
[[nodiscard]] inline std::vector<float> ordered_sum(const std::vector<std::vector<float>>& values,
                                                    Exchange exchange) {
  return exchange == Exchange::kRing ? ring_order_sum(values) : shard_order_sum(values);
}

// What all_reduce() gives with any way to sum. values[i] are those of members[i].
[[nodiscard]] inline std::vector<float> ordered_sum(const std::vector<std::vector<float>>& values,
                                                    std::span<const WorkerId> members,
                                                    const Way& way) {
  const auto hosts = two_levels(members, way.host_of);
  if (way.exchange != Exchange::kRing || hosts.empty()) return ordered_sum(values, way.exchange);
  std::vector<std::vector<std::vector<float>>> by_host;
  for (const std::vector<WorkerId>& host : hosts) {
    by_host.emplace_back();
    for (const WorkerId member : host) by_host.back().push_back(values[place_in(members, member)]);
  }
  return two_ring_order_sum(by_host);
}

}  // namespace pipedream::transport
