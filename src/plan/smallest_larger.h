// The inner loop of the hierarchical planner.
#pragma once

#include <cstddef>

namespace pipedream::plan {

// min(best, min over i < count of max(a[i], b[i])). All must be finite: the file is compiled on
// that promise, without which no compiler vectorises a minimum.
[[nodiscard]] double smallest_larger(const double* a, const double* b, std::size_t count,
                                     double best);

}  // namespace pipedream::plan
