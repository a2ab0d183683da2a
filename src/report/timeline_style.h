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

// Colours after Okabe and Ito, who chose them so that the colour-blind can tell them apart.
struct Style {
  const char* css;  // class in the style sheet
  const char* colour;
  // Colour of every other minibatch, where boxes are microbatches. Its class is `css` + "o".
  const char* second;
  const char* label;  // name in the legend
};
[[nodiscard]] const Style& style_of(Look look);

// Returns classes for fonts of 6 … 16 pixels, for all looks, and for the other parts of a picture:
// page, idle, strip, grid, band.
[[nodiscard]] std::string style_sheet();

}  // namespace pipedream::report
