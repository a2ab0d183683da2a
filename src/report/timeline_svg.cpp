#include "report/timeline_svg.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/check.h"
#include "report/svg.h"
#include "report/table.h"
#include "report/timeline_scene.h"
#include "report/timeline_style.h"
#include "report/timeline_words.h"

namespace pipedream::report {
namespace {

using timeline::Event;

constexpr Tenths kMargin = 160;
constexpr Tenths kAfterLabels = 100;
constexpr Tenths kRightMargin = 360;  // room for half a label of the axis
constexpr Tenths kTitleLine = 220;
constexpr Tenths kSubtitleLine = 160;
constexpr Tenths kHeadingLine = 180;
constexpr Tenths kAxisHeight = 340;
constexpr std::size_t kMostTitles = 8000;  // with more boxes there are no tooltips
constexpr Tenths kBetween = 6;             // width of the gap after a box
constexpr Tenths kNarrowestGap = 8;        // narrower idle gaps have no tooltips
constexpr Tenths kLowestBox = 10;

Window window_of(const timeline::Timeline& timeline, const SvgOptions& options) {
  const Nanos from = std::clamp(options.from, Nanos{0}, Nanos::max() - Nanos{1});
  return {from, std::max(options.to.value_or(timeline::length(timeline)), from + Nanos{1})};
}

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

  [[nodiscard]] bool has_titles() const { return scene_.boxes <= kMostTitles; }
  [[nodiscard]] std::string title_of(const Box& box) const;
  [[nodiscard]] std::string title_of(const Mark& mark) const;
  [[nodiscard]] Tenths lane_top(std::size_t index) const {
    return top_ + static_cast<Tenths>(index) * scene_.pitch();
  }
  [[nodiscard]] Tenths bottom() const { return lane_top(scene_.lanes.size()); }
  void draw_header(Svg& svg) const;
  void draw_headings(Svg& svg) const;
  void draw_background(Svg& svg, std::size_t index) const;
  void draw_gaps(Svg& svg, const Scale& scale, const std::vector<Gap>& gaps, Tenths top) const;
  void draw_axis(Svg& svg) const;
  void draw_label(Svg& svg, std::size_t index) const;
  void draw_lane(Svg& svg, std::size_t index);
  void draw_strips(Svg& svg, const PlacedLane& placed, Tenths top);
  void draw_box(Svg& svg, const Box& box, Tenths top, Tenths height) const;
  void draw_band(Svg& svg, const Lane& lane, const Box& box, Tenths top);
  void draw_marks(Svg& svg, const PlacedLane& placed, Tenths top) const;
  void draw_breaks(Svg& svg) const;
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
    : scene_(scene), left_(scene.label_width + kMargin + kAfterLabels), legend_({}, 0) {
  const Tenths width = left_ - kMargin + scene.width();
  title_ = wrapped(options.title, 18, width);  // bold letters are wider
  subtitle_ = wrapped(options.subtitle, 12, width);
  legend_ = Legend(legend_of(scene), width);
  top_ = kMargin + static_cast<Tenths>(title_.size()) * kTitleLine +
         static_cast<Tenths>(subtitle_.size()) * kSubtitleLine + legend_.height() + 120 +
         (scene.stretches.size() > 1 ? kHeadingLine : 0);
}

std::string Picture::title_of(const Box& box) const {
  if (!has_titles()) return {};
  const std::string times = span_text(scene_.axis, box.start, box.end);
  if (box.event == nullptr)
    return fmt::format("{} ops, most of the time {}: {}, busy {}", grouped(box.events),
                       style_of(box.look).label, times, duration_text(scene_.axis, box.busy));
  return words_of(box.event->op, scene_.shape.has_microbatches) + ": " +
         span_text(scene_.axis, box.event->start, box.event->end);
}

std::string Picture::title_of(const Mark& mark) const {
  if (!has_titles()) return {};
  std::string title;
  for (const Event* event : mark.events)
    title += (title.empty() ? "" : "; ") + words_of(event->op, scene_.shape.has_microbatches);
  return title + ": " + time_text(scene_.axis, mark.events.front()->start);
}

void Picture::draw_header(Svg& svg) const {
  Tenths y = kMargin;
  for (const std::string& line : title_) svg.text("t16 h", kMargin, (y += kTitleLine) - 80, line);
  for (const std::string& line : subtitle_)
    svg.text("t12 q", kMargin, (y += kSubtitleLine) - 50, line);
  legend_.draw(svg, kMargin, y + 40);
}

// Draws what each stretch shows above it, with its times where there is room for them.
void Picture::draw_headings(Svg& svg) const {
  for (const auto& [name, scale] : scene_.stretches) {
    if (name.empty()) continue;
    const std::string times =
        fmt::format("{}: {} to {}", name, rough_time_text(scene_.axis, scale.from()),
                    rough_time_text(scene_.axis, scale.to()));
    svg.text("t11 h", left_ + scale.left(), top_ - 80,
             text_width(times, 12) <= scale.width() ? times : name);
  }
}

void Picture::draw_gaps(Svg& svg, const Scale& scale, const std::vector<Gap>& gaps,
                        Tenths top) const {
  for (const Gap& gap : gaps) {
    const Nanos start = std::max(gap.start, scale.from());
    const Nanos end = std::min(gap.end, scale.to());
    if (start >= end || scale.at(end) - scale.at(start) < kNarrowestGap) continue;
    svg.rect("idle",
             {left_ + scale.at(start), top, scale.at(end) - scale.at(start), scene_.sizes.compute},
             words_of(gap, scene_.axis));
  }
}

void Picture::draw_background(Svg& svg, std::size_t index) const {
  const Lane& lane = scene_.lanes[index].lane;
  const Tenths top = lane_top(index);
  const std::vector<Gap> gaps =
      has_titles() ? gaps_of(lane, scene_.shape, scene_.window.to) : std::vector<Gap>{};
  for (const auto& [name, scale] : scene_.stretches) {
    svg.rect("idle", {left_ + scale.left(), top, scale.width(), scene_.sizes.compute});
    draw_gaps(svg, scale, gaps, top);
  }
}

void Picture::draw_axis(Svg& svg) const {
  for (const auto& [name, scale] : scene_.stretches)
    for (const Tick& tick : ticks_of(scene_.axis, scale.from(), scale.to())) {
      const Tenths x = left_ + scale.at(tick.time);
      svg.rect("grid", {x - 3, top_ - 40, 6, bottom() - top_ + 60});
      svg.text("n t10 q", x, bottom() + 140, tick.label);
    }
  svg.text("e t10 q", left_ - 180, bottom() + 140, "time, " + scene_.axis.unit.many);
}

void Picture::draw_label(Svg& svg, std::size_t index) const {
  if (index % static_cast<std::size_t>(110 / scene_.pitch() + 1) != 0) return;
  const std::vector<Line> lines = label_of(scene_.lanes[index].lane, scene_.sizes);
  const bool two = lines.size() > 1;
  const Tenths middle = lane_top(index) + (two ? scene_.sizes.compute : scene_.lane_height()) / 2;
  svg.text(fmt::format("e t{}", lines[0].font), left_ - 80, middle + (two ? -10 : 35),
           lines[0].text);
  if (two) svg.text(fmt::format("e t{} q", lines[1].font), left_ - 80, middle + 100, lines[1].text);
}

// A box of several events is as high as its share of busy time.
void Picture::draw_box(Svg& svg, const Box& box, Tenths top, Tenths height) const {
  const Tenths width = box.right - box.left;
  const Tenths high = box.event != nullptr
                          ? height
                          : std::max(kLowestBox, height * std::min(10, box.busy_tenths()) / 10);
  svg.rect(
      scene_.css_of(box),
      {left_ + box.left, top + height - high, width >= kSeparated ? width - kBetween : width, high},
      title_of(box));
}

// Draws a band with the stage's number: at the top of the box for the worker's first stage, at the
// bottom for its last.
void Picture::draw_band(Svg& svg, const Lane& lane, const Box& box, Tenths top) {
  const auto stage = scene_.band_of(lane, box);
  if (!stage) return;
  const auto place = std::find(lane.stages.begin(), lane.stages.end(), *stage);
  const auto above = static_cast<Tenths>(place - lane.stages.begin());
  const auto last = static_cast<Tenths>(lane.stages.size()) - 1;
  const Tenths height = scene_.sizes.compute / 4;
  const Tenths y = top + (scene_.sizes.compute - height) * above / last;
  svg.rect("band", {left_ + box.left, y, box.right - box.left - kBetween, height}, title_of(box));
  const std::string number = std::to_string(stage->value);
  if (number_width(number, kSmallestNumber) <= box.right - box.left && height >= 60)
    numbers_["n t6 w"].push_back(
        {left_ + (box.left + box.right - kBetween) / 2, y + height / 2 + 22, number});
}

void Picture::draw_marks(Svg& svg, const PlacedLane& placed, Tenths top) const {
  for (const Mark& mark : placed.marks)
    svg.rect(style_of(mark.look).css,
             {left_ + mark.at - 10, top - 30, 14, scene_.sizes.compute + 30}, title_of(mark));
}

void Picture::add_number(const Box& box, Tenths top, Tenths height, int font) {
  font = scene_.number_font(box, font);
  if (font == 0) return;
  numbers_[fmt::format("n t{}", font)].push_back({left_ + (box.left + box.right - kBetween) / 2,
                                                  top + height / 2 + font * 36 / 10,
                                                  scene_.number_of(box.event)});
}

void Picture::draw_strips(Svg& svg, const PlacedLane& placed, Tenths top) {
  const Tenths height = scene_.sizes.strip;
  for (const std::vector<Box>& strip : placed.strips) {
    for (const Box& box : strip) {
      draw_box(svg, box, top + 10, height - 10);
      add_number(box, top + 10, height - 10, scene_.strip_font());
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
    draw_band(svg, placed.lane, box, top);
    add_number(box, top, compute, placed.font);
  }
  draw_marks(svg, placed, top);
  draw_strips(svg, placed, top + compute);
}

// Draws the edges of the stretches as if the paper were torn.
void Picture::draw_breaks(Svg& svg) const {
  for (std::size_t i = 1; i < scene_.stretches.size(); ++i) {
    const Scale& before = scene_.stretches[i - 1].scale;
    const Scale& after = scene_.stretches[i].scale;
    const std::vector<Point> edge = jagged(left_ + before.right(), top_ - 40, bottom());
    const std::vector<Point> other = jagged(left_ + after.left(), top_ - 40, bottom());
    std::vector<Point> corners = edge;
    corners.insert(corners.end(), other.rbegin(), other.rend());
    svg.polygon("page", corners, "left out: " + span_text(scene_.axis, before.to(), after.from()));
    svg.line("tear", edge);
    svg.line("tear", other);
  }
}

void Picture::draw_numbers(Svg& svg) const {
  for (const auto& [css, numbers] : numbers_) {
    svg.begin_group(css);
    for (const Number& number : numbers) svg.text("", number.x, number.y, number.text);
    svg.end_group();
  }
}

std::string Picture::draw() && {
  const Tenths width = left_ + scene_.width() + kRightMargin;
  const Tenths height = bottom() + kAxisHeight;
  Svg svg(width, height, style_sheet(), patterns());
  svg.rect("page", {0, 0, width, height});
  draw_header(svg);
  draw_headings(svg);
  for (std::size_t i = 0; i < scene_.lanes.size(); ++i) draw_background(svg, i);
  draw_axis(svg);
  for (std::size_t i = 0; i < scene_.lanes.size(); ++i) draw_lane(svg, i);
  draw_breaks(svg);
  draw_numbers(svg);
  return std::move(svg).finish();
}

}  // namespace

std::string timeline_svg(const timeline::Timeline& timeline, const SvgOptions& options) {
  PD_CHECK(800 <= options.widest && options.widest <= 6000);
  const Tenths around = kMargin + kAfterLabels + kRightMargin;
  const Scene scene = scene_of(timeline, {.window = window_of(timeline, options),
                                          .unit = options.unit,
                                          .widest = options.widest * 10 - around});
  return Picture(scene, options).draw();
}

}  // namespace pipedream::report
