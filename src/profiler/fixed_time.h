// What of a layer's time and memory does not depend on how many samples there are.
#pragma once

#include <algorithm>
#include <vector>

#include "core/units.h"

namespace pipedream::profiler {

// Of a pass that took `whole`, when a pass with a `share` of its samples (above 0, below 1) took
// `part`: where the line through both meets no samples at all. Between 0 and `whole`, whatever was
// measured: a part that took less than its share has nothing fixed, and one that took longer than
// the whole has nothing else.
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

// Of each layer. Noise around nothing would count where it is above and not where it is below, so
// the layers' are scaled to what all layers together have.
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
