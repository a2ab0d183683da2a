// The result of evaluating a network on held-out data (docs/runtime.md: Epochs).
#pragma once

#include <cstdint>

namespace pipedream::runtime {

// All fields are sums, so scores of several items and workers can be added.
struct Score {
  double loss = 0;  // sum over items: the item's mean loss times its number of samples
  std::int64_t samples = 0;
  std::int64_t right = 0;        // correct predictions
  std::int64_t predictions = 0;  // labels predicted: one per sample, or one per word
  std::int64_t padding = 0;      // labels that are none (model/padding.h)
  std::int64_t in_five = 0;      // of `ranked`: the right label is among the five most likely
  std::int64_t ranked = 0;       // predictions of one label per sample, of more than five classes

  Score& operator+=(const Score& other) {
    loss += other.loss;
    samples += other.samples;
    right += other.right;
    predictions += other.predictions;
    padding += other.padding;
    in_five += other.in_five;
    ranked += other.ranked;
    return *this;
  }
  [[nodiscard]] double mean_loss() const {
    return samples > 0 ? loss / static_cast<double>(samples) : 0;
  }
  // The mean loss of a label that is no padding; `loss` counts padding as labels with a loss of 0.
  // Requires `predictions` > 0.
  [[nodiscard]] double loss_per_prediction() const {
    if (padding == 0) return mean_loss();
    return mean_loss() * static_cast<double>(predictions + padding) /
           static_cast<double>(predictions);
  }
  [[nodiscard]] double accuracy() const {
    return predictions > 0 ? static_cast<double>(right) / static_cast<double>(predictions) : 0;
  }
};

}  // namespace pipedream::runtime
