// How a minibatch is cut into microbatches: as evenly as whole samples allow (core/even_part.h).
#pragma once

#include <algorithm>
#include <cstdint>

namespace pipedream::train {

// Into how many microbatches a minibatch of `samples` is cut, when a full one of `batch` samples is
// cut into `microbatches`: a short one into fewer, of about the same size, and at least one.
[[nodiscard]] constexpr std::int64_t microbatches_in(std::int64_t samples, std::int64_t batch,
                                                     std::int64_t microbatches) {
  const std::int64_t wanted = (samples * microbatches + batch - 1) / batch;
  return std::max<std::int64_t>(1, std::min(wanted, microbatches));
}

}  // namespace pipedream::train
