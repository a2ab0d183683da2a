#include "report/timeline_svg.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "report/svg.h"
#include "report/table.h"
#include "report/time_axis.h"
#include "report/timeline_scene.h"
#include "report/timeline_style.h"

namespace pipedream::report {
namespace {

using timeline::Event;

constexpr Tenths kMargin = 160;
constexpr Tenths kRightMargin = 400;  // room for half a label of the axis
constexpr Tenths kTitleLine = 220;
constexpr Tenths kSubtitleLine = 160;
constexpr Tenths kAxisHeight = 340;
constexpr Tenths kTickEvery = 1000;
constexpr std::size_t kMostTitles = 3000;  // with more boxes there are no tooltips
constexpr Tenths kSeparated = 30;          // boxes of this width or more have a gap after them
constexpr Tenths kBetween = 6;             // width of the gap after a box
constexpr Tenths kStripWithNumbers = 80;

Window window_of(const timeline::Timeline& timeline, const SvgOptions& options) {
  const Nanos from = std::clamp(options.from, Nanos{0}, Nanos::max() - Nanos{1});
  return {from, std::max(options.to.value_or(timeline::length(timeline)), from + Nanos{1})};
}

std::string stage_text(const std::vector<StageId>& stages) {
  std::string text = stages.size() > 1 ? "stages " : "stage ";
  for (std::size_t i = 0; i < stages.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(stages[i].value);
  return stages.empty() ? "" : shortened(text, 20);
}

// A line of a label.
struct Line {
  std::string text;
  int font = 0;  // size in pixels
};

class Picture {
 public:
  Picture(const Scene& scene, const SvgOptions& options);
  [[nodiscard]] std::string draw() &&;

 private:
  struct Number {
    Tenths x = 0;
    Tenths y = 0;
    std::string text;
  };

  [[nodiscard]] std::vector<Line> label_of(const Lane& lane) const;
  [[nodiscard]] std::string title_of(const Event* event) const;
  [[nodiscard]] std::string css_of(const Box& box) const;
  [[nodiscard]] Tenths lane_top(std::size_t index) const {
    return top_ + static_cast<Tenths>(index) * scene_.pitch();
  }
  void draw_header(Svg& svg) const;
  void draw_background(Svg& svg, Tenths top) const;
  void draw_axis(Svg& svg) const;
  void draw_label(Svg& svg, std::size_t index) const;
  void draw_lane(Svg& svg, std::size_t index);
  void draw_strips(Svg& svg, const PlacedLane& placed, Tenths top);
  void draw_box(Svg& svg, const Box& box, Tenths top, Tenths height) const;
  void draw_stage(Svg& svg, const Lane& lane, const Box& box, Tenths top);
  void draw_marks(Svg& svg, const PlacedLane& placed, Tenths top) const;
  void add_number(const Box& box, Tenths top, Tenths height, int font);
  void draw_numbers(Svg& svg) const;

  const Scene& scene_;
  Tenths left_ = 0;  // left edge of the chart
  Tenths top_ = 0;   // top of the first lane
  std::vector<std::string> title_;
  std::vector<std::string> subtitle_;
  Legend legend_;
  std::map<std::string, std::vector<Number>> numbers_;  // by their classes in the style sheet
};

Picture::Picture(const Scene& scene, const SvgOptions& options)
    : scene_(scene), left_(300), legend_({}, 0) {
  for (const PlacedLane& placed : scene.lanes)
    for (const auto& [text, font] : label_of(placed.lane))
      left_ = std::max(left_, text_width(text, font));
  left_ += kMargin + 100;
  const Tenths width = left_ - kMargin + scene.scale.width();
  title_ = wrapped(options.title, 18, width);  // bold letters are wider
  subtitle_ = wrapped(options.subtitle, 12, width);
  legend_ = Legend(legend_of(scene), width);
  top_ = kMargin + static_cast<Tenths>(title_.size()) * kTitleLine +
         static_cast<Tenths>(subtitle_.size()) * kSubtitleLine + legend_.height() + 120;
}

// Returns the label to the left of a lane.
std::vector<Line> Picture::label_of(const Lane& lane) const {
  const std::string worker = fmt::format("worker {}", lane.worker.value);
  const std::string stages = stage_text(lane.stages);
  if (stages.empty()) return {{worker, 11}};
  if (scene_.pitch() >= 240) return {{worker, 11}, {stages, 9}};
  return {{worker + ", " + stages, 9}};
}

std::string Picture::title_of(const Event* event) const {
  if (event == nullptr || scene_.boxes > kMostTitles) return {};
  return fmt::format("{} at {}, takes {}", schedule::to_text(event->op, true),
                     to_text(event->start), to_text(event->end - event->start));
}

std::string Picture::css_of(const Box& box) const {
  const auto item = box.event == nullptr ? std::nullopt : item_of(box.event->op);
  const bool second = scene_.microbatches && item && item->minibatch % 2 != 0;
  return std::string(style_of(box.look).css) + (second ? "o" : "");
}

void Picture::draw_header(Svg& svg) const {
  Tenths y = kMargin;
  for (const std::string& line : title_) svg.text("t16 h", kMargin, (y += kTitleLine) - 80, line);
  for (const std::string& line : subtitle_)
    svg.text("t12 q", kMargin, (y += kSubtitleLine) - 50, line);
  legend_.draw(svg, kMargin, y + 40);
}

void Picture::draw_background(Svg& svg, Tenths top) const {
  const Tenths compute = scene_.sizes.compute;
  svg.rect("idle", {left_, top, scene_.scale.width(), compute});
  if (!scene_.strips.empty())
    svg.rect("strip", {left_, top + compute, scene_.scale.width(), scene_.lane_height() - compute});
}

void Picture::draw_axis(Svg& svg) const {
  const Scale& scale = scene_.scale;
  const Axis axis = axis_of(scale.from(), scale.to(), scale.width() / kTickEvery);
  const Tenths bottom = lane_top(scene_.lanes.size());
  for (const Tick& tick : axis.ticks) {
    const Tenths x = left_ + scale.at(tick.time);
    svg.rect("grid", {x - 3, top_ - 40, 6, bottom - top_ + 60});
    svg.text("n t10 q", x, bottom + 140, tick.label);
  }
  svg.text("e t10 q", left_ - 180, bottom + 140, "time, " + axis.unit);
}

void Picture::draw_label(Svg& svg, std::size_t index) const {
  if (index % static_cast<std::size_t>(110 / scene_.pitch() + 1) != 0) return;
  const std::vector<Line> lines = label_of(scene_.lanes[index].lane);
  const bool two = lines.size() > 1;
  const Tenths middle = lane_top(index) + (two ? scene_.sizes.compute : scene_.lane_height()) / 2;
  svg.text(fmt::format("e t{}", lines[0].font), left_ - 80, middle + (two ? -10 : 35),
           lines[0].text);
  if (two) svg.text(fmt::format("e t{} q", lines[1].font), left_ - 80, middle + 100, lines[1].text);
}

void Picture::draw_box(Svg& svg, const Box& box, Tenths top, Tenths height) const {
  const Tenths width = box.right - box.left;
  svg.rect(css_of(box),
           {left_ + box.left, top, width >= kSeparated ? width - kBetween : width, height},
           title_of(box.event), box.opacity);
}

// Draws a band with the stage's number: at the top of the box for the worker's first stage, at the
// bottom for its last.
void Picture::draw_stage(Svg& svg, const Lane& lane, const Box& box, Tenths top) {
  const auto stage = box.event == nullptr ? std::nullopt : stage_of(box.event->op);
  const Tenths width = box.right - box.left;
  if (lane.stages.size() < 2 || !stage || width < kSeparated) return;
  const auto place = std::find(lane.stages.begin(), lane.stages.end(), *stage);
  const auto above = static_cast<Tenths>(place - lane.stages.begin());
  const auto last = static_cast<Tenths>(lane.stages.size()) - 1;
  const Tenths height = scene_.sizes.compute / 4;
  const Tenths y = top + (scene_.sizes.compute - height) * above / last;
  svg.rect("band", {left_ + box.left, y, width - kBetween, height});
  const std::string number = std::to_string(stage->value);
  if (number_width(number, kSmallestNumber) <= width && height >= 60)
    numbers_["n t6 w"].push_back(
        {left_ + (box.left + box.right - kBetween) / 2, y + height / 2 + 22, number});
}

void Picture::draw_marks(Svg& svg, const PlacedLane& placed, Tenths top) const {
  for (const Mark& mark : placed.marks) {
    std::string title;
    if (scene_.boxes <= kMostTitles) {
      for (const Event* event : mark.events)
        title += (title.empty() ? "" : ", ") + schedule::to_text(event->op, true);
      title += " at " + to_text(mark.events.front()->start);
    }
    svg.rect(style_of(mark.look).css,
             {left_ + mark.at - 10, top - 30, 14, scene_.sizes.compute + 30}, title);
  }
}

void Picture::add_number(const Box& box, Tenths top, Tenths height, int font) {
  const std::string number = scene_.number_of(box.event);
  while (font >= kSmallestNumber && number_width(number, font) > box.right - box.left) --font;
  if (number.empty() || font < kSmallestNumber) return;
  numbers_[fmt::format("n t{}", font)].push_back(
      {left_ + (box.left + box.right - kBetween) / 2, top + height / 2 + font * 36 / 10, number});
}

void Picture::draw_strips(Svg& svg, const PlacedLane& placed, Tenths top) {
  const Tenths height = scene_.sizes.strip;
  for (const std::vector<Box>& strip : placed.strips) {
    for (const Box& box : strip) {
      draw_box(svg, box, top + 10, height - 10);
      if (height >= kStripWithNumbers) add_number(box, top + 10, height - 10, 7);
    }
    top += height;
  }
}

void Picture::draw_lane(Svg& svg, std::size_t index) {
  const PlacedLane& placed = scene_.lanes[index];
  const Tenths top = lane_top(index);
  const Tenths compute = scene_.sizes.compute;
  draw_label(svg, index);
  for (const Box& box : placed.compute) {
    draw_box(svg, box, top, compute);
    draw_stage(svg, placed.lane, box, top);
    add_number(box, top, compute, placed.font);
  }
  draw_marks(svg, placed, top);
  draw_strips(svg, placed, top + compute);
}

void Picture::draw_numbers(Svg& svg) const {
  for (const auto& [css, numbers] : numbers_) {
    svg.begin_group(css);
    for (const Number& number : numbers) svg.text("", number.x, number.y, number.text);
    svg.end_group();
  }
}

std::string Picture::draw() && {
  const Tenths width = left_ + scene_.scale.width() + kRightMargin;
  const Tenths height = lane_top(scene_.lanes.size()) + kAxisHeight;
  Svg svg(width, height, style_sheet());
  svg.rect("page", {0, 0, width, height});
  draw_header(svg);
  for (std::size_t i = 0; i < scene_.lanes.size(); ++i) draw_background(svg, lane_top(i));
  draw_axis(svg);
  for (std::size_t i = 0; i < scene_.lanes.size(); ++i) draw_lane(svg, i);
  draw_numbers(svg);
  return std::move(svg).finish();
}

}  // namespace

std::string timeline_svg(const timeline::Timeline& timeline, const SvgOptions& options) {
  const Scene scene = scene_of(timeline, window_of(timeline, options));
  return Picture(scene, options).draw();
}

}  // namespace pipedream::report
