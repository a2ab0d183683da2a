// How the parts of a timeline look: colours, and what the legend calls them.
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
  const char* css;  // the class
  const char* colour;
  const char* second;  // of every other minibatch where its microbatches are shown; class css + "o"
  const char* label;
};
[[nodiscard]] const Style& style_of(Look look);

// For fonts of 6 … 16 pixels, all looks, and what else a picture has: idle, strip, grid, band.
[[nodiscard]] std::string style_sheet();

}  // namespace pipedream::report
