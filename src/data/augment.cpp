#include "data/augment.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <vector>

#include "core/error.h"
#include "core/nearest.h"
#include "core/philox.h"
#include "core/text.h"
#include "data/streams.h"

namespace pipedream::data {
namespace {

constexpr std::int64_t kMostPadding = 1024;
constexpr double kSmallestArea = 0.08;
constexpr double kWidestRatio = 4.0 / 3;  // of width to height; its inverse is the narrowest
constexpr std::size_t kTries = 10;

template <class Number>
Number parse_number(const std::string& change, const std::string& text, Number least, Number most,
                    const std::string& wanted) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || !(number >= least) || !(number <= most))
    throw BadUsage("`augment` " + change + ": wanted " + wanted + ", found '" + printable(text) +
                   "'");
  return number;
}

// The random numbers of one change, each for its own use, so that one kind of change does not
// depend on whether another one is made.
struct Draws {
  std::array<float, 4 + 2 * kTries> values;
  [[nodiscard]] float mirrored() const { return values[0]; }
  [[nodiscard]] float top() const { return values[1]; }
  [[nodiscard]] float left() const { return values[2]; }
  [[nodiscard]] float area(std::size_t attempt) const { return values[4 + 2 * attempt]; }
  [[nodiscard]] float ratio(std::size_t attempt) const { return values[5 + 2 * attempt]; }
};

// One of 0 … most, each as likely as the others. `draw` is in [0, 1).
std::int64_t up_to(std::int64_t most, float draw) {
  return std::min(most, static_cast<std::int64_t>(draw * static_cast<double>(most + 1)));
}

// The largest window in the middle whose sides have a ratio that may be drawn.
Window middle(std::int64_t rows, std::int64_t columns) {
  const auto share = [](std::int64_t side) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(side) * kWidestRatio));
  };
  Window window{.rows = std::min(rows, share(columns)), .columns = std::min(columns, share(rows))};
  window.top = (rows - window.rows) / 2;
  window.left = (columns - window.columns) / 2;
  return window;
}

// A window of random area and ratio at a random place, as torchvision's RandomResizedCrop draws it:
// areas are equally likely, and so are the logarithms of ratios.
Window random_window(const Draws& draws, double smallest_area, std::int64_t rows,
                     std::int64_t columns) {
  for (std::size_t attempt = 0; attempt < kTries; ++attempt) {
    const double share = smallest_area + (1 - smallest_area) * draws.area(attempt);
    const double area = share * static_cast<double>(rows) * static_cast<double>(columns);
    const double ratio = std::exp(std::log(kWidestRatio) * (2 * draws.ratio(attempt) - 1));
    const std::int64_t width = std::llround(std::sqrt(area * ratio));
    const std::int64_t height = std::llround(std::sqrt(area / ratio));
    if (width < 1 || height < 1 || width > columns || height > rows) continue;
    return {up_to(rows - height, draws.top()), up_to(columns - width, draws.left()), height, width};
  }
  return middle(rows, columns);
}

}  // namespace

Augmentation parse_augmentation(const std::string& text) {
  static const std::vector<std::string> kNames{"flip", "crop", "resized-crop"};
  Augmentation found;
  if (text.empty()) return found;
  std::set<std::string> seen;
  for (const std::string& part : split(text, ',')) {
    const std::size_t colon = part.find(':');
    const std::string name = part.substr(0, colon);
    const bool has_number = colon != std::string::npos;
    const std::string number = has_number ? part.substr(colon + 1) : "";
    if (!seen.insert(name).second) throw BadUsage("`augment` names " + printable(name) + " twice");
    if (name == "flip" && !has_number) {
      found.flips = true;
    } else if (name == "crop") {
      found.padding = parse_number<std::int64_t>(
          "crop", number, 1, kMostPadding,
          "crop:P, P pixels of padding from 1 to " + std::to_string(kMostPadding));
    } else if (name == "resized-crop") {
      found.smallest_area = has_number ? parse_number("resized-crop", number, 0.001, 1.0,
                                                      "a share of the area from 0.001 to 1")
                                       : kSmallestArea;
    } else {
      throw BadUsage("`augment`: there is no change '" + printable(part) + "'" +
                     (name == "flip" ? " (flip takes no number)" : suggestion(name, kNames)));
    }
  }
  if (found.padding > 0 && found.smallest_area)
    throw BadUsage(
        "`augment`: crop and resized-crop both choose a part of the picture: leave one "
        "of them out");
  return found;
}

Change Augmenter::change_of(std::int64_t epoch, std::int64_t sample, std::int64_t rows,
                            std::int64_t columns) const {
  Change change = unchanged(rows, columns);
  if (augmentation_.is_none()) return change;
  Draws draws{};
  fill_uniform({.seed = seed_,
                .layer = kAugmentStream,
                .minibatch = sample,
                .microbatch = static_cast<std::int32_t>(epoch)},
               draws.values);
  change.mirrored = augmentation_.flips && draws.mirrored() < 0.5F;
  if (augmentation_.smallest_area)
    change.window = random_window(draws, *augmentation_.smallest_area, rows, columns);
  if (augmentation_.padding > 0) {
    change.window.top = up_to(2 * augmentation_.padding, draws.top()) - augmentation_.padding;
    change.window.left = up_to(2 * augmentation_.padding, draws.left()) - augmentation_.padding;
  }
  return change;
}

void write_changed(const PictureBytes& picture, const Change& change, std::uint8_t* out) {
  const Window& window = change.window;
  for (std::int64_t c = 0; c < picture.channels; ++c)
    for (std::int64_t r = 0; r < window.rows; ++r) {
      const std::int64_t row = window.top + r;
      const bool is_inside = row >= 0 && row < picture.rows;
      const std::uint8_t* from =
          picture.first + c * picture.channel_step + (is_inside ? row : 0) * picture.row_step;
      for (std::int64_t i = 0; i < window.columns; ++i) {
        const std::int64_t column = window.left + (change.mirrored ? window.columns - 1 - i : i);
        *out++ = is_inside && column >= 0 && column < picture.columns
                     ? from[column * picture.column_step]
                     : std::uint8_t{0};
      }
    }
}

}  // namespace pipedream::data
