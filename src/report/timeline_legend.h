// The legend of a timeline's picture.
#pragma once

#include <string>
#include <vector>

#include "report/svg.h"

namespace pipedream::report {

// A swatch and its label.
struct LegendEntry {
  // kBox: a box of each class. kMark: a mark. kBars: boxes of rising heights. kBand: a band on an
  // idle lane. kTear: the edges of a break.
  enum class Swatch { kNone, kBox, kMark, kBars, kBand, kTear } swatch = Swatch::kNone;
  std::vector<std::string> css;  // classes of the swatch, for kBox, kMark and kBars
  std::string label;
};

// Places entries in lines, from left to right.
class Legend {
 public:
  // A line is at most `width` wide.
  Legend(std::vector<LegendEntry> entries, Tenths width);

  [[nodiscard]] Tenths height() const;
  // Draws a group of the class "legend".
  void draw(Svg& svg, Tenths left, Tenths top) const;

 private:
  struct Placed {
    LegendEntry entry;
    Tenths x;
    int line;
  };
  std::vector<Placed> placed_;
};

// Returns the points of a jagged line from `top` down to `bottom`, around `x`.
[[nodiscard]] std::vector<Point> jagged(Tenths x, Tenths top, Tenths bottom);

}  // namespace pipedream::report
