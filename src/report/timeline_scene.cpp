#include "report/timeline_scene.h"

#include <algorithm>
#include <array>
#include <set>

namespace pipedream::report {
namespace {

using timeline::Event;

constexpr int kLargestNumber = 11;
constexpr int kStripNumber = 7;
constexpr Tenths kStripWithNumbers = 80;
constexpr Tenths kTickEvery = 1000;
constexpr Tenths kLeastRoom = 10 * kBreak;  // for the chart
constexpr Tenths kVisible = 2;              // an idle gap of this width or more is seen

// Returns the largest font size in which nine of ten numbers fit into their boxes.
int font_for(const Scene& scene, const std::vector<Box>& boxes) {
  const auto all = std::count_if(boxes.begin(), boxes.end(), [&](const Box& box) {
    return !scene.number_of(box.event).empty();
  });
  int font = std::clamp(scene.sizes.compute / 10 - 2, kSmallestNumber, kLargestNumber);
  const auto most_fit = [&] {
    const auto fitting = std::count_if(boxes.begin(), boxes.end(), [&](const Box& box) {
      return scene.number_font(box, font) == font;
    });
    return fitting * 10 >= all * 9;
  };
  while (font > kSmallestNumber && !most_fit()) --font;
  return font;
}

template <class Piece>
void append(std::vector<Piece>& all, std::vector<Piece> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<Box> boxes_in_all(const Scene& scene, const std::vector<const Event*>& row) {
  std::vector<Box> boxes;
  for (const Stretch& stretch : scene.stretches) append(boxes, boxes_of(row, stretch.scale));
  return boxes;
}

// Some lanes with marks and others without would look as if only some workers updated.
void remove_crowded_marks(Scene& scene) {
  const bool crowded = std::any_of(scene.lanes.begin(), scene.lanes.end(),
                                   [](const PlacedLane& placed) { return placed.is_crowded; });
  for (PlacedLane& placed : scene.lanes)
    if (crowded) placed.marks.clear();
}

void place(Scene& scene, Lane& lane) {
  PlacedLane placed{std::move(lane), {}, {}, {}};
  const auto& row = placed.lane.row(Row::kCompute);
  placed.compute = boxes_in_all(scene, row);
  for (const Stretch& stretch : scene.stretches) {
    std::vector<Mark> marks = marks_of(row, stretch.scale);
    placed.is_crowded = placed.is_crowded || are_crowded(marks);
    append(placed.marks, std::move(marks));
  }
  placed.font = font_for(scene, placed.compute);
  scene.boxes += placed.compute.size();
  for (const Row strip : scene.strips) {
    placed.strips.push_back(boxes_in_all(scene, placed.lane.row(strip)));
    scene.boxes += placed.strips.back().size();
  }
  scene.lanes.push_back(std::move(placed));
}

Axis axis_for(const std::vector<Stretch>& stretches, const std::optional<TimeUnit>& unit) {
  Nanos shown{0};
  Tenths width = 0;
  for (const Stretch& stretch : stretches) {
    shown += stretch.scale.to() - stretch.scale.from();
    width += stretch.scale.width();
  }
  return axis_of(shown, std::max(1, width / kTickEvery), unit);
}

// What the legend must explain.
struct Seen {
  std::array<std::set<std::string>, kLooks> boxes;  // classes of the boxes of each look
  std::array<bool, kLooks> marks{};
  bool idle = false;
  bool bands = false;
  bool numbers = false;
  bool pale = false;
  std::string merged;  // class of a merged box; empty: there is none
};

void see(Seen& seen, const Scene& scene, const std::vector<Box>& boxes, int font) {
  for (const Box& box : boxes) {
    const std::string css = scene.css_of(box);
    seen.boxes[static_cast<std::size_t>(box.look)].insert(css);
    seen.pale = seen.pale || css != style_of(box.look).css;
    seen.numbers = seen.numbers || scene.number_font(box, font) > 0;
    if (box.event == nullptr && seen.merged.empty()) seen.merged = css;
  }
}

// Returns whether the row of compute has idle time that can be seen.
bool has_idle(const Scene& scene, const std::vector<Box>& boxes) {
  auto box = boxes.begin();
  for (const Stretch& stretch : scene.stretches) {
    Tenths edge = stretch.scale.left();
    for (; box != boxes.end() && box->left < stretch.scale.right(); ++box) {
      if (box->left - edge >= kVisible || (box->event == nullptr && box->busy_tenths() < 10))
        return true;
      edge = box->right;
    }
    if (stretch.scale.right() - edge >= kVisible) return true;
  }
  return false;
}

Seen seen_in(const Scene& scene) {
  Seen seen;
  for (const PlacedLane& placed : scene.lanes) {
    see(seen, scene, placed.compute, placed.font);
    for (const auto& strip : placed.strips) see(seen, scene, strip, scene.strip_font());
    for (const Mark& mark : placed.marks) seen.marks[static_cast<std::size_t>(mark.look)] = true;
    seen.idle = seen.idle || has_idle(scene, placed.compute);
    seen.bands = seen.bands ||
                 std::any_of(placed.compute.begin(), placed.compute.end(), [&](const Box& box) {
                   return scene.band_of(placed.lane, box).has_value();
                 });
  }
  return seen;
}

}  // namespace

std::string Scene::css_of(const Box& box) const {
  const Style& style = style_of(box.look);
  return std::string(style.css) + (shape.has_microbatches && style.has_pale && box.odd ? "o" : "");
}

std::string Scene::number_of(const Event* event) const {
  const auto item = event == nullptr ? std::nullopt : item_of(event->op);
  if (!item) return {};
  return std::to_string(shape.has_microbatches ? item->microbatch : item->minibatch);
}

int Scene::number_font(const Box& box, int font) const {
  const std::string number = number_of(box.event);
  while (font >= kSmallestNumber && number_width(number, font) > box.right - box.left) --font;
  return number.empty() || font < kSmallestNumber ? 0 : font;
}

int Scene::strip_font() const { return sizes.strip >= kStripWithNumbers ? kStripNumber : 0; }

std::optional<StageId> Scene::band_of(const Lane& lane, const Box& box) const {
  if (box.event == nullptr || lane.stages.size() < 2 || box.right - box.left < kSeparated)
    return std::nullopt;
  return stage_of(box.event->op);
}

Scene scene_of(const timeline::Timeline& timeline, const SceneOptions& options) {
  std::vector<Lane> lanes = lanes_of(timeline);
  Scene scene{
      .window = options.window, .shape = shape_of(lanes), .sizes = lane_sizes(lanes.size())};
  scene.label_width = label_width(lanes, scene.sizes);
  const Tenths room = std::max(options.widest - scene.label_width, kLeastRoom);
  scene.stretches = stretches_of(lanes, scene.shape, options.window, room);
  scene.axis = axis_for(scene.stretches, options.unit);
  scene.strips = strips_of(lanes, scene.stretches);
  for (Lane& lane : lanes) place(scene, lane);
  remove_crowded_marks(scene);
  return scene;
}

std::vector<LegendEntry> legend_of(const Scene& scene) {
  using Swatch = LegendEntry::Swatch;
  const Seen seen = seen_in(scene);
  std::vector<LegendEntry> entries;
  const auto add = [&](bool wanted, Swatch swatch, std::vector<std::string> css,
                       std::string label) {
    if (wanted) entries.push_back({swatch, std::move(css), std::move(label)});
  };
  for (std::size_t i = 0; i < kLooks; ++i) {
    const Style& style = style_of(static_cast<Look>(i));
    const bool boxes = !seen.boxes[i].empty();
    add(boxes, Swatch::kBox, {seen.boxes[i].begin(), seen.boxes[i].end()}, style.label);
    add(seen.marks[i], Swatch::kMark, {style.css},
        std::string(style.label) + (boxes ? " that takes no time" : ""));
  }
  add(seen.idle, Swatch::kBox, {"idle"}, "idle");
  add(seen.bands, Swatch::kBand, {}, "stage, on a worker that has several");
  add(seen.numbers, Swatch::kNone, {},
      scene.shape.has_microbatches ? "numbers: microbatches" : "numbers: minibatches");
  add(seen.pale, Swatch::kNone, {}, "pale: minibatches 1, 3, 5, …");
  add(!seen.merged.empty(), Swatch::kBars, {seen.merged},
      "several too narrow to draw: colour of what takes longest, height by the busy share");
  add(scene.stretches.size() > 1, Swatch::kTear, {}, "time left out");
  return entries;
}

}  // namespace pipedream::report
