// The legend of a timeline's picture.
#pragma once

#include <string>
#include <vector>

#include "report/svg.h"

namespace pipedream::report {

// A swatch and its label.
struct LegendEntry {
  enum class Swatch { kNone, kBox, kPair, kMark, kBand } swatch = Swatch::kNone;
  // Class of the swatch. kPair shows the classes `css` and `css` + "o". For kBand it is the number
  // on the band instead.
  std::string css;
  std::string label;
};

// Places entries in lines, from left to right.
class Legend {
 public:
  // A line is at most `width` wide.
  Legend(std::vector<LegendEntry> entries, Tenths width);

  [[nodiscard]] Tenths height() const;
  void draw(Svg& svg, Tenths left, Tenths top) const;

 private:
  struct Placed {
    LegendEntry entry;
    Tenths x;
    int line;
  };
  std::vector<Placed> placed_;
};

}  // namespace pipedream::report
