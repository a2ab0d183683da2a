// Random values of Working. Only property tests and their *_testing.h headers include this.
#pragma once

#include <cstdint>

#include "core/property_testing.h"
#include "profile/working.h"

namespace pipedream::profile {

// Returns a Working of `all` bytes. Its `fixed` is 0 in half of the cases, else any part of `all`.
[[nodiscard]] inline Working any_working(Bytes all) {
  if (test::any_of_range(0, 2) == 0) return {all};
  return {all, Bytes{test::any_of_range<std::int64_t>(0, all.count + 1)}};
}

}  // namespace pipedream::profile
