#include "data/prototypes.h"

#include <algorithm>

#include "data/streams.h"

namespace pipedream::data {
namespace {

constexpr std::size_t kImagePatches = 8;     // patches along the height and along the width
constexpr std::size_t kFeaturePatches = 64;  // patches along a row of features
// Noise is uniform in [−kNoise, kNoise). Patterns have a standard deviation of 1.
constexpr float kNoise = 1;
// Positions in `noise_` at which a row may begin. Noise is drawn once; a sample takes it from a
// random position on. Drawing it for each sample took ten times as long as everything else.
constexpr std::size_t kNoisePlaces = 1 << 16;

}  // namespace

Prototypes::Prototypes(std::int64_t classes, model::Shape shape, std::uint64_t seed)
    : columns_(static_cast<std::size_t>(shape.back())) {
  const bool image = shape.size() == 3;
  height_ = image ? static_cast<std::size_t>(shape[1]) : 1;
  column_patches_ = std::min(columns_, image ? kImagePatches : kFeaturePatches);
  row_patches_ = std::min(height_, kImagePatches);
  pattern_rows_ = image ? static_cast<std::size_t>(shape[0]) * row_patches_ : 1;
  const std::size_t each = pattern_rows_ * column_patches_;
  patterns_.resize(static_cast<std::size_t>(classes) * each);
  for (std::int64_t c = 0; c < classes; ++c)
    fill_normal({.seed = seed, .layer = kPatternStream, .minibatch = c},
                std::span(patterns_).subspan(static_cast<std::size_t>(c) * each, each));
  noise_.resize(kNoisePlaces + columns_);
  fill_uniform({.seed = seed, .layer = kNoiseStream}, noise_);
  for (float& value : noise_) value = kNoise * (2 * value - 1);
}

// In a sample that is no image all rows show the same pattern: the frames of a film differ only by
// their noise.
std::size_t Prototypes::pattern_row(std::size_t row) const {
  if (pattern_rows_ == 1) return 0;
  return row / height_ * row_patches_ + row % height_ * row_patches_ / height_;
}

void Prototypes::draw(std::int64_t of_class, const RandomKey& key, std::span<float> sample) const {
  const float* pattern =
      patterns_.data() + static_cast<std::size_t>(of_class) * pattern_rows_ * column_patches_;
  const std::size_t place = folded(key);
  for (std::size_t row = 0; row < sample.size() / columns_; ++row) {
    const float* patches = pattern + pattern_row(row) * column_patches_;
    const float* noise = noise_.data() + (place + row * columns_) % kNoisePlaces;
    float* values = sample.data() + row * columns_;
    for (std::size_t patch = 0; patch < column_patches_; ++patch) {
      const std::size_t end = (patch + 1) * columns_ / column_patches_;
      for (std::size_t x = patch * columns_ / column_patches_; x < end; ++x)
        values[x] = patches[patch] + noise[x];
    }
  }
}

}  // namespace pipedream::data
