// How well a network does on samples it has not learned from.
#pragma once

#include <cstdint>

namespace pipedream::runtime {

// Sums, so that those of several items and workers add up. A prediction is one label: one per
// sample, or one per word.
struct Score {
  double loss = 0;  // mean of each item, times its samples
  std::int64_t samples = 0;
  std::int64_t right = 0;
  std::int64_t predictions = 0;

  Score& operator+=(const Score& other) {
    loss += other.loss;
    samples += other.samples;
    right += other.right;
    predictions += other.predictions;
    return *this;
  }
  [[nodiscard]] double mean_loss() const {
    return samples > 0 ? loss / static_cast<double>(samples) : 0;
  }
  [[nodiscard]] double accuracy() const {
    return predictions > 0 ? static_cast<double>(right) / static_cast<double>(predictions) : 0;
  }
};

}  // namespace pipedream::runtime
