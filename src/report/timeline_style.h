// How the parts of a timeline's picture look: their colours and their names in the legend.
#pragma once

#include <cstddef>
#include <string>

#include "schedule/ops.h"

namespace pipedream::report {

enum class Look {
  kForward,
  kBackward,
  kInputGradient,
  kWeightGradient,
  kRecompute,
  kWait,
  kUpdate,
  kFetch,
  kSend,
  kReceive,
  kAverage,
  kPush,
  kLoad
};
inline constexpr std::size_t kLooks = 13;

[[nodiscard]] Look look_of(const schedule::Op& op);

// How boxes and marks of a look are filled. Most colours are after Okabe and Ito, who chose them so
// that the colour-blind can tell them apart. No colour is a paler shade of another, because
// paleness has a meaning of its own: where minibatches are cut, it marks those with odd numbers.
struct Style {
  const char* css;     // class in the style sheet
  const char* colour;  // "#" and six hexadecimal digits
  bool striped;        // stripes of a darker colour
  bool has_pale;       // the class `css` + "o" is the same, half mixed with white
  const char* label;   // name in the legend
};
[[nodiscard]] const Style& style_of(Look look);

// Returns classes for fonts of 6 … 16 pixels, for all looks, and for the other parts of a picture:
// page, idle, grid, band, tear.
[[nodiscard]] std::string style_sheet();
// Returns the patterns that the style sheet refers to.
[[nodiscard]] std::string patterns();

}  // namespace pipedream::report
