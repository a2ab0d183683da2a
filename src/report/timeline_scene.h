// A timeline measured and placed: all that its picture shows, before anything is drawn.
#pragma once

#include <string>
#include <vector>

#include "report/timeline_boxes.h"
#include "report/timeline_lanes.h"
#include "report/timeline_layout.h"
#include "report/timeline_legend.h"

namespace pipedream::report {

inline constexpr int kSmallestNumber = 6;  // the font's size in pixels

// One worker.
struct PlacedLane {
  Lane lane;
  std::vector<Box> compute;
  std::vector<Mark> marks;
  std::vector<std::vector<Box>> strips;  // as Scene::strips
  int font = kSmallestNumber;            // in which nearly all numbers fit into compute's boxes
};

// Keeps references to the timeline's events.
struct Scene {
  Scale scale;
  bool microbatches;  // whether numbers are those of microbatches
  LaneSizes sizes;
  std::vector<Row> strips;
  std::vector<PlacedLane> lanes;
  std::size_t boxes = 0;  // and marks, of all lanes

  [[nodiscard]] Tenths lane_height() const {
    return sizes.compute + static_cast<Tenths>(strips.size()) * sizes.strip;
  }
  // From the top of one lane to that of the next.
  [[nodiscard]] Tenths pitch() const { return lane_height() + sizes.gap; }
  // The number in the box of an event; empty where it has none.
  [[nodiscard]] std::string number_of(const timeline::Event* event) const;
};

[[nodiscard]] Scene scene_of(const timeline::Timeline& timeline, const Window& window);

// Whatever the scene has.
[[nodiscard]] std::vector<LegendEntry> legend_of(const Scene& scene);

}  // namespace pipedream::report
