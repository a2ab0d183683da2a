// The legend of a timeline's picture.
#pragma once

#include <string>
#include <vector>

#include "report/svg.h"

namespace pipedream::report {

struct LegendEntry {
  enum class Swatch { kNone, kBox, kPair, kMark, kBand } swatch = Swatch::kNone;
  std::string css;  // of the swatch; a pair shows css and css + "o"; of a band: its number
  std::string label;
};

// Entries in lines that are filled from left to right.
class Legend {
 public:
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
