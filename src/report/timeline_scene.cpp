#include "report/timeline_scene.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace pipedream::report {
namespace {

using timeline::Event;

constexpr int kLargestNumber = 11;

bool has_microbatches(const timeline::Timeline& timeline) {
  return std::any_of(timeline.events.begin(), timeline.events.end(), [](const Event& event) {
    const auto item = item_of(event.op);
    return item && item->microbatch > 0;
  });
}

bool fits(const Scene& scene, const Box& box, int font) {
  const std::string number = scene.number_of(box.event);
  return !number.empty() && number_width(number, font) <= box.right - box.left;
}

// Returns the largest font size in which nine of ten numbers fit into their boxes.
int font_for(const Scene& scene, const std::vector<Box>& boxes) {
  const auto all = std::count_if(boxes.begin(), boxes.end(), [&](const Box& box) {
    return !scene.number_of(box.event).empty();
  });
  int font = std::clamp(scene.sizes.compute / 10 - 2, kSmallestNumber, kLargestNumber);
  const auto most_fit = [&] {
    return std::count_if(boxes.begin(), boxes.end(),
                         [&](const Box& box) { return fits(scene, box, font); }) *
               10 >=
           all * 9;
  };
  while (font > kSmallestNumber && !most_fit()) --font;
  return font;
}

void place(Scene& scene, Lane& lane) {
  PlacedLane placed{std::move(lane)};
  placed.compute = boxes_of(placed.lane.row(Row::kCompute), scene.scale);
  placed.marks = marks_of(placed.lane.row(Row::kCompute), scene.scale);
  placed.font = font_for(scene, placed.compute);
  scene.boxes += placed.compute.size() + placed.marks.size();
  for (const Row row : scene.strips) {
    placed.strips.push_back(boxes_of(placed.lane.row(row), scene.scale));
    scene.boxes += placed.strips.back().size();
  }
  scene.lanes.push_back(std::move(placed));
}

// What the legend must explain.
struct Seen {
  std::array<bool, kLooks> boxes{};
  std::array<bool, kLooks> marks{};
  bool stages = false;
  bool numbers = false;
  bool merged = false;
};

Seen seen_in(const Scene& scene) {
  Seen seen;
  const auto see = [&](const std::vector<Box>& boxes) {
    for (const Box& box : boxes) {
      seen.boxes[static_cast<std::size_t>(box.look)] = true;
      seen.merged = seen.merged || box.event == nullptr;
    }
  };
  for (const PlacedLane& lane : scene.lanes) {
    see(lane.compute);
    for (const auto& strip : lane.strips) see(strip);
    for (const Mark& mark : lane.marks) seen.marks[static_cast<std::size_t>(mark.look)] = true;
    seen.stages = seen.stages || lane.lane.stages.size() > 1;
    seen.numbers = seen.numbers ||
                   std::any_of(lane.compute.begin(), lane.compute.end(),
                               [&](const Box& box) { return fits(scene, box, kSmallestNumber); });
  }
  return seen;
}

}  // namespace

std::string Scene::number_of(const Event* event) const {
  const auto item = event == nullptr ? std::nullopt : item_of(event->op);
  if (!item) return {};
  return std::to_string(microbatches ? item->microbatch : item->minibatch);
}

Scene scene_of(const timeline::Timeline& timeline, const Window& window) {
  std::vector<Lane> lanes = lanes_of(timeline);
  Scene scene{.scale = Scale(window.from, window.to, chart_width(lanes, window)),
              .microbatches = has_microbatches(timeline),
              .sizes = lane_sizes(lanes.size()),
              .strips = strips_of(lanes, window)};
  for (Lane& lane : lanes) place(scene, lane);
  return scene;
}

std::vector<LegendEntry> legend_of(const Scene& scene) {
  using Swatch = LegendEntry::Swatch;
  const Seen seen = seen_in(scene);
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < kLooks; ++i) {
    const Style& style = style_of(static_cast<Look>(i));
    const bool pair = scene.microbatches && std::string_view(style.colour) != style.second;
    if (seen.boxes[i])
      entries.push_back({pair ? Swatch::kPair : Swatch::kBox, style.css, style.label});
    else if (seen.marks[i])
      entries.push_back({Swatch::kMark, style.css, style.label});
  }
  if (!scene.lanes.empty()) entries.push_back({Swatch::kBox, "idle", "idle"});
  if (seen.stages) entries.push_back({Swatch::kBand, "0", "stage of a worker that has several"});
  if (seen.numbers)
    entries.push_back({Swatch::kNone, "",
                       scene.microbatches ? "numbers: microbatches; shades: minibatches in turn"
                                          : "numbers: minibatches"});
  if (seen.merged)
    entries.push_back(
        {Swatch::kNone, "", "too narrow to be told apart: merged, the paler the more idle"});
  return entries;
}

}  // namespace pipedream::report
