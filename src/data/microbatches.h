// How many microbatches a minibatch is cut into. The cuts themselves are those of
// core/even_part.h: sizes differ by at most one sample.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pipedream::data {

// Returns the number of microbatches for a minibatch of `samples` samples, if a full minibatch of
// `batch` samples is cut into `microbatches`. A short minibatch is cut into fewer microbatches of
// about the same size, and into at least one.
[[nodiscard]] constexpr std::int64_t microbatches_in(std::int64_t samples, std::int64_t batch,
                                                     std::int64_t microbatches) {
  const std::int64_t wanted = (samples * microbatches + batch - 1) / batch;
  return std::max<std::int64_t>(1, std::min(wanted, microbatches));
}

}  // namespace pipedream::data
