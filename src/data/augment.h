// Random changes of training pictures: --augment (docs/training.md, changed pictures).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pipedream::data {

// What may be changed.
struct Augmentation {
  bool flips = false;                   // mirror left and right with probability 1/2
  std::int64_t padding = 0;             // pixels around the picture from which a part is cut
  std::optional<double> smallest_area;  // of the part that is cut and resized, as a share

  [[nodiscard]] bool is_none() const { return !flips && padding == 0 && !smallest_area; }
};

// Reads a list such as "flip,crop:4" or "flip,resized-crop:0.2". An empty text is no change. Throws
// BadUsage, suggesting the nearest name, for a change that is not known or is named twice, for a
// number out of range, and for crop together with resized-crop.
[[nodiscard]] Augmentation parse_augmentation(const std::string& text);

// A rectangle of pixels. It may stick out of the picture; what is outside is black.
struct Window {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

// How one sample is changed in one epoch.
struct Change {
  Window window{};        // the part of the picture that is used
  bool mirrored = false;  // afterwards
  friend bool operator==(const Change&, const Change&) = default;
};

// Draws changes at random. An answer depends on the constructor's and the call's arguments alone.
class Augmenter {
 public:
  Augmenter() = default;  // changes nothing
  Augmenter(const Augmentation& augmentation, std::uint64_t seed)
      : augmentation_(augmentation), seed_(seed) {}

  [[nodiscard]] const Augmentation& augmentation() const { return augmentation_; }
  // The change of a picture of `rows` x `columns` pixels. Its window has as many pixels, unless the
  // augmentation has a `smallest_area`: then the window is inside the picture.
  [[nodiscard]] Change change_of(std::int64_t epoch, std::int64_t sample, std::int64_t rows,
                                 std::int64_t columns) const;

 private:
  Augmentation augmentation_;
  std::uint64_t seed_ = 0;
};

// A change that keeps the picture as it is.
[[nodiscard]] inline Change unchanged(std::int64_t rows, std::int64_t columns) {
  return {.window = {.rows = rows, .columns = columns}};
}

// Where the bytes of a picture are: that of (channel, row, column) is at
// first[channel * channel_step + row * row_step + column * column_step].
struct PictureBytes {
  const std::uint8_t* first;
  std::int64_t channels;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t channel_step;
  std::int64_t row_step;
  std::int64_t column_step;
};

// Writes the changed picture to `out`, channel by channel and row by row. `out` has room for
// channels * window.rows * window.columns bytes.
void write_changed(const PictureBytes& picture, const Change& change, std::uint8_t* out);

}  // namespace pipedream::data
