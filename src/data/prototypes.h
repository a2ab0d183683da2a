// Synthetic samples of classes that a network can tell apart. Each class has a random pattern; a
// sample of the class is its pattern plus noise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/philox.h"
#include "model/layer.h"

namespace pipedream::data {

// The patterns of all classes and the noise. A pure function of the constructor's arguments.
// Immutable, so safe to use from several threads.
//
// Patterns are coarse: a few patches of constant value. In an image (three dimensions) the patches
// divide height and width; in any other sample they divide the last dimension. Poolings therefore
// do not average patterns away, and the memory of a pattern does not grow with the image.
class Prototypes {
 public:
  // `shape` is the shape of one sample, without the dimension of the minibatch.
  Prototypes(std::int64_t classes, model::Shape shape, std::uint64_t seed);

  // Writes a sample of the class `of_class` into `sample`. `key` selects its noise.
  void draw(std::int64_t of_class, const RandomKey& key, std::span<float> sample) const;

 private:
  // The row of a pattern that row number `row` of a sample shows.
  [[nodiscard]] std::size_t pattern_row(std::size_t row) const;

  std::size_t columns_;          // size of a sample's last dimension
  std::size_t height_;           // rows of an image; 1 for other samples
  std::size_t column_patches_;   // patches in a row of a pattern
  std::size_t row_patches_;      // rows of patches in one channel of a pattern
  std::size_t pattern_rows_;     // rows of patches in all channels of a pattern
  std::vector<float> patterns_;  // [classes, pattern_rows_, column_patches_]
  std::vector<float> noise_;     // each row of a sample adds a stretch of `columns_` numbers
};

}  // namespace pipedream::data
