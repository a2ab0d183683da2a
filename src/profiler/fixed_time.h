// The fixed part of a layer's time and memory: what does not depend on the number of samples
// (docs/planner.md, The cost model).
#pragma once

#include <algorithm>
#include <vector>

#include "core/units.h"

namespace pipedream::profiler {

// The fixed part of a cost that is `whole` for all samples and `part` for a `share` of them (above
// 0, below 1). It is where the straight line through both measurements reaches zero samples. The
// result is always between 0 and `whole`: 0 if `part` is less than its share of `whole`, and
// `whole` if `part` is larger than `whole`.
[[nodiscard]] inline double fixed_part(double whole, double part, double share) {
  return std::clamp((part - whole * share) / (1 - share), 0.0, whole);
}
[[nodiscard]] inline Nanos fixed_time(Nanos whole, Nanos part, double share) {
  return std::min(whole, from_seconds(fixed_part(to_seconds(whole), to_seconds(part), share)));
}
[[nodiscard]] inline Bytes fixed_bytes(Bytes whole, Bytes part, double share) {
  const double fixed =
      fixed_part(static_cast<double>(whole.count), static_cast<double>(part.count), share);
  return Bytes{static_cast<std::int64_t>(fixed + 0.5)};
}

// The fixed time of each layer, from its times `whole` and `part`. If a layer has no fixed time,
// noise counts where it is positive, but is cut off at 0 where it is negative. So all fixed times
// are scaled such that their sum is the fixed time of all layers together.
[[nodiscard]] inline std::vector<Nanos> fixed_times(const std::vector<Nanos>& whole,
                                                    const std::vector<Nanos>& part, double share) {
  Nanos all_whole{0}, all_part{0}, all_fixed{0};
  std::vector<Nanos> fixed;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    fixed.push_back(fixed_time(whole[i], part[i], share));
    all_whole += whole[i];
    all_part += part[i];
    all_fixed += fixed.back();
  }
  if (all_fixed == Nanos(0)) return fixed;
  const double scale = to_seconds(fixed_time(all_whole, all_part, share)) / to_seconds(all_fixed);
  for (std::size_t i = 0; i < whole.size(); ++i)
    fixed[i] = std::min(whole[i], from_seconds(to_seconds(fixed[i]) * scale));
  return fixed;
}

}  // namespace pipedream::profiler
