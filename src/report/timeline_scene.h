// A timeline measured and placed: all that its picture shows, before anything is drawn.
#pragma once

#include <string>
#include <vector>

#include "report/timeline_boxes.h"
#include "report/timeline_lanes.h"
#include "report/timeline_layout.h"
#include "report/timeline_legend.h"

namespace pipedream::report {

inline constexpr int kSmallestNumber = 6;  // smallest font for numbers in boxes, in pixels

// The lane of one worker.
struct PlacedLane {
  Lane lane;
  std::vector<Box> compute;
  std::vector<Mark> marks;
  std::vector<std::vector<Box>> strips;  // boxes of each row in Scene::strips
  int font = kSmallestNumber;  // font size in which nearly all numbers fit into compute's boxes
};

// Points to events of the timeline, which must outlive it.
struct Scene {
  Scale scale;
  bool microbatches;  // numbers in boxes are those of microbatches, not of minibatches
  LaneSizes sizes;
  std::vector<Row> strips;  // rows below compute that are shown
  std::vector<PlacedLane> lanes;
  std::size_t boxes = 0;  // number of boxes and marks of all lanes

  [[nodiscard]] Tenths lane_height() const {
    return sizes.compute + static_cast<Tenths>(strips.size()) * sizes.strip;
  }
  // Returns the distance from the top of one lane to the top of the next.
  [[nodiscard]] Tenths pitch() const { return lane_height() + sizes.gap; }
  // Returns the number in the box of an event, or an empty string if the box has none.
  [[nodiscard]] std::string number_of(const timeline::Event* event) const;
};

[[nodiscard]] Scene scene_of(const timeline::Timeline& timeline, const Window& window);

// Returns legend entries for everything that the scene shows.
[[nodiscard]] std::vector<LegendEntry> legend_of(const Scene& scene);

}  // namespace pipedream::report
