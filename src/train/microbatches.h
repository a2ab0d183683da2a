// How a minibatch is cut into microbatches: as evenly as whole samples allow.
//   10 samples in 4: [0 1] [2 3 4] [5 6] [7 8 9]
#pragma once

#include <algorithm>
#include <cstdint>

namespace pipedream::train {

// Part of a minibatch's samples.
struct SampleRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
  friend bool operator==(const SampleRange&, const SampleRange&) = default;
};

// The samples of microbatch number `microbatch` of `microbatches`, of a minibatch of `samples`.
// None is empty when there are at least as many samples as microbatches.
[[nodiscard]] constexpr SampleRange microbatch_range(std::int64_t samples, std::int64_t microbatch,
                                                     std::int64_t microbatches) {
  const std::int64_t first = samples * microbatch / microbatches;
  return {first, samples * (microbatch + 1) / microbatches - first};
}

// Into how many microbatches a minibatch of `samples` is cut, when a full one of `batch` samples is
// cut into `microbatches`: a short one into fewer, of about the same size, and at least one.
[[nodiscard]] constexpr std::int64_t microbatches_in(std::int64_t samples, std::int64_t batch,
                                                     std::int64_t microbatches) {
  const std::int64_t wanted = (samples * microbatches + batch - 1) / batch;
  return std::max<std::int64_t>(1, std::min(wanted, microbatches));
}

}  // namespace pipedream::train
