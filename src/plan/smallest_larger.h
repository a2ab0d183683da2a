// The inner loop of the hierarchical planner (plan/hierarchical.h).
#pragma once

#include <cstddef>

namespace pipedream::plan {

// Returns min(best, min over i < count of max(a[i], b[i])). Requires finite numbers: the source
// file is compiled with -ffinite-math-only, because compilers vectorise a minimum only then.
[[nodiscard]] double smallest_larger(const double* a, const double* b, std::size_t count,
                                     double best);

}  // namespace pipedream::plan
