// Made-up samples of classes that can be told apart: each class has a pattern, a sample of it is
// the pattern plus noise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/philox.h"
#include "model/layer.h"

namespace pipedream::train {

// Immutable; a pure function of its arguments. Patterns are coarse, a few patches over the last
// dimension (features) or over the last two (images, which have three), so that poolings do not
// average them away and the memory they take does not grow with the image.
class Prototypes {
 public:
  // `shape` is that of one sample.
  Prototypes(std::int64_t classes, model::Shape shape, std::uint64_t seed);

  // Writes a sample of the class `of_class`, whose noise `key` chooses.
  void draw(std::int64_t of_class, const RandomKey& key, std::span<float> sample) const;

 private:
  [[nodiscard]] std::size_t pattern_row(std::size_t row) const;

  std::size_t columns_;         // the last dimension
  std::size_t height_;          // the one before it in an image, else 1
  std::size_t column_patches_;  // numbers in a row of a pattern
  std::size_t row_patches_;     // rows of a pattern, per channel
  std::size_t pattern_rows_;
  std::vector<float> patterns_;  // class by class
  std::vector<float> noise_;     // of which each row of a sample takes a part
};

}  // namespace pipedream::train
