#include "report/timeline_legend.h"

#include <algorithm>

namespace pipedream::report {
namespace {

constexpr int kFont = 11;
constexpr Tenths kLine = 190;
constexpr Tenths kSwatchWidth = 180;
constexpr Tenths kSwatchHeight = 120;
constexpr Tenths kBeforeLabel = 50;
constexpr Tenths kBetweenEntries = 180;
constexpr Tenths kTooth = 25;  // of a jagged line

using Swatch = LegendEntry::Swatch;

Tenths label_at(const LegendEntry& entry) {
  return entry.swatch == Swatch::kNone ? 0 : kSwatchWidth + kBeforeLabel;
}

void draw_boxes(Svg& svg, const std::vector<std::string>& css, Tenths x, Tenths y) {
  const Tenths width = kSwatchWidth / static_cast<Tenths>(css.size());
  for (const std::string& each : css) {
    svg.rect(each, {x, y, width, kSwatchHeight});
    x += width;
  }
}

void draw_bars(Svg& svg, const std::string& css, Tenths x, Tenths y) {
  for (const Tenths height : {30, 60, 90, kSwatchHeight}) {
    svg.rect(css, {x, y + kSwatchHeight - height, kSwatchWidth / 4, height});
    x += kSwatchWidth / 4;
  }
}

void draw_swatch(Svg& svg, const LegendEntry& entry, Tenths x, Tenths y) {
  switch (entry.swatch) {
    case Swatch::kNone:
      break;
    case Swatch::kBox:
      draw_boxes(svg, entry.css, x, y);
      break;
    case Swatch::kMark:
      svg.rect(entry.css.front(), {x + kSwatchWidth / 2 - 10, y - 20, 20, kSwatchHeight + 40});
      break;
    case Swatch::kBars:
      draw_bars(svg, entry.css.front(), x, y);
      break;
    case Swatch::kBand:
      svg.rect("band", {x, y, kSwatchWidth, 80});
      svg.text("n t7 w", x + kSwatchWidth / 2, y + 65, "0");
      break;
    case Swatch::kTear:
      svg.line("tear", jagged(x + 60, y - 20, y + kSwatchHeight + 20));
      svg.line("tear", jagged(x + 120, y - 20, y + kSwatchHeight + 20));
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
  svg.begin_group("legend");
  for (const Placed& each : placed_) {
    const Tenths y = top + each.line * kLine;
    draw_swatch(svg, each.entry, left + each.x, y);
    svg.text("t11", left + each.x + label_at(each.entry), y + 100, each.entry.label);
  }
  svg.end_group();
}

std::vector<Point> jagged(Tenths x, Tenths top, Tenths bottom) {
  std::vector<Point> points;
  Tenths side = -1;
  for (Tenths y = top; y < bottom; y += 2 * kTooth) {
    points.push_back({x + side * kTooth, y});
    side = -side;
  }
  points.push_back({x + side * kTooth, bottom});
  return points;
}

}  // namespace pipedream::report
