#include "report/timeline_legend.h"

namespace pipedream::report {
namespace {

constexpr int kFont = 11;
constexpr Tenths kLine = 190;
constexpr Tenths kSwatchWidth = 180;
constexpr Tenths kSwatchHeight = 120;
constexpr Tenths kBeforeLabel = 50;
constexpr Tenths kBetweenEntries = 180;

using Swatch = LegendEntry::Swatch;

Tenths label_at(const LegendEntry& entry) {
  return entry.swatch == Swatch::kNone ? 0 : kSwatchWidth + kBeforeLabel;
}

void draw_swatch(Svg& svg, const LegendEntry& entry, Tenths x, Tenths y) {
  const Rect all{x, y, kSwatchWidth, kSwatchHeight};
  switch (entry.swatch) {
    case Swatch::kNone:
      break;
    case Swatch::kBox:
      svg.rect(entry.css, all);
      break;
    case Swatch::kPair:
      svg.rect(entry.css, {x, y, kSwatchWidth / 2, kSwatchHeight});
      svg.rect(entry.css + "o", {x + kSwatchWidth / 2, y, kSwatchWidth / 2, kSwatchHeight});
      break;
    case Swatch::kMark:
      svg.rect(entry.css, {x + kSwatchWidth / 2 - 10, y - 20, 20, kSwatchHeight + 40});
      break;
    case Swatch::kBand:
      svg.rect("idle", all);
      svg.rect("band", {x, y, kSwatchWidth, 70});
      svg.text("n t6 w", x + kSwatchWidth / 2, y + 57, entry.css);
      break;
  }
}

}  // namespace

Legend::Legend(std::vector<LegendEntry> entries, Tenths width) {
  Tenths x = 0;
  int line = 0;
  for (LegendEntry& entry : entries) {
    const Tenths takes = label_at(entry) + text_width(entry.label, kFont);
    if (x > 0 && x + takes > width) {
      x = 0;
      ++line;
    }
    placed_.push_back({std::move(entry), x, line});
    x += takes + kBetweenEntries;
  }
}

Tenths Legend::height() const { return placed_.empty() ? 0 : (placed_.back().line + 1) * kLine; }

void Legend::draw(Svg& svg, Tenths left, Tenths top) const {
  for (const Placed& each : placed_) {
    const Tenths y = top + each.line * kLine;
    draw_swatch(svg, each.entry, left + each.x, y);
    svg.text("t11", left + each.x + label_at(each.entry), y + 100, each.entry.label);
  }
}

}  // namespace pipedream::report
