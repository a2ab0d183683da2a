// A timeline measured and placed: all that its picture shows, before anything is drawn.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/time_axis.h"
#include "report/timeline_boxes.h"
#include "report/timeline_idle.h"
#include "report/timeline_lanes.h"
#include "report/timeline_layout.h"
#include "report/timeline_legend.h"
#include "report/timeline_stretches.h"

namespace pipedream::report {

inline constexpr int kSmallestNumber = 6;  // smallest font for numbers in boxes, in pixels
inline constexpr Tenths kSeparated = 30;   // boxes of this width or more have a gap after them

// The lane of one worker. Positions are counted from the left edge of the chart.
struct PlacedLane {
  Lane lane;
  std::vector<Box> compute;
  std::vector<Mark> marks;  // empty in all lanes if the marks of any lane are crowded
  bool is_crowded = false;  // the marks of this lane are crowded in one of the stretches
  std::vector<std::vector<Box>> strips;  // boxes of each row in Scene::strips
  int font = kSmallestNumber;  // font size in which nearly all numbers fit into compute's boxes
};

// Points to events of the timeline, which must outlive it.
struct Scene {
  Window window;
  RunShape shape;
  std::vector<Stretch> stretches;  // at least one
  Axis axis;
  LaneSizes sizes;
  Tenths label_width = 0;
  std::vector<Row> strips;  // rows below compute that are shown
  std::vector<PlacedLane> lanes;
  std::size_t boxes = 0;  // number of boxes of all lanes

  [[nodiscard]] Tenths width() const { return stretches.back().scale.right(); }
  [[nodiscard]] Tenths lane_height() const {
    return sizes.compute + static_cast<Tenths>(strips.size()) * sizes.strip;
  }
  // Returns the distance from the top of one lane to the top of the next.
  [[nodiscard]] Tenths pitch() const { return lane_height() + sizes.gap; }
  // Returns the class of a box in the style sheet.
  [[nodiscard]] std::string css_of(const Box& box) const;
  // Returns the number in the box of an event, or an empty string if the box has none.
  [[nodiscard]] std::string number_of(const timeline::Event* event) const;
  // Returns the largest font size up to `font` in which the number of a box fits into it, or 0 if
  // it fits in none or if the box has no number.
  [[nodiscard]] int number_font(const Box& box, int font) const;
  // Returns the largest font size for numbers in strips, or 0 if strips are too low for numbers.
  [[nodiscard]] int strip_font() const;
  // Returns the stage of a box if the box has a band for it.
  [[nodiscard]] std::optional<StageId> band_of(const Lane& lane, const Box& box) const;
};

// How the scene is to be made.
struct SceneOptions {
  Window window;
  std::optional<TimeUnit> unit;  // nullopt: ns, µs, ms or s
  Tenths widest = 0;             // most width of labels and chart together
};
[[nodiscard]] Scene scene_of(const timeline::Timeline& timeline, const SceneOptions& options);

// Returns legend entries for everything that the scene shows, and for nothing else.
[[nodiscard]] std::vector<LegendEntry> legend_of(const Scene& scene);

}  // namespace pipedream::report
