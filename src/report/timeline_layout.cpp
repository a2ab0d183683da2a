#include "report/timeline_layout.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace pipedream::report {
namespace {

using timeline::Event;

// All lengths are in pixels.
constexpr double kNarrowestChart = 640;
constexpr double kComfortableChart = 1200;
constexpr double kWidestChart = 3200;
constexpr double kHopeless = 8000;  // if numbers need more than this, an overview will do
constexpr double kOverview = 1600;
constexpr double kComfortableBox = 26;
constexpr double kSmallestDigit = 5;
constexpr double kMargins = 4;

bool is_seen(const Event& event, const Window& window) {
  return event.start < event.end && event.start < window.to && event.end > window.from;
}

}  // namespace

LaneSizes lane_sizes(std::size_t workers) {
  if (workers <= 8) return {280, 90, 110};
  if (workers <= 20) return {220, 70, 80};
  if (workers <= 64) return {120, 30, 50};
  return {60, 20, 20};
}

Tenths chart_width(const std::vector<Lane>& lanes, const Window& window) {
  std::vector<Nanos> times;
  std::int64_t largest = 0;
  for (const Lane& lane : lanes)
    for (const Event* event : lane.row(Row::kCompute)) {
      const auto item = item_of(event->op);
      if (!item || !is_seen(*event, window)) continue;
      times.push_back(event->end - event->start);
      largest = std::max(largest, item->minibatch);
    }
  if (times.empty()) return static_cast<Tenths>(kNarrowestChart * 10);
  const auto low = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 10);
  std::nth_element(times.begin(), low, times.end());
  const double boxes = to_seconds(window.to - window.from) / to_seconds(*low);
  const auto digits = static_cast<double>(std::to_string(largest).size());
  const double comfortable =
      std::clamp(boxes * kComfortableBox, kNarrowestChart, kComfortableChart);
  const double wanted = boxes * (digits * kSmallestDigit + kMargins);
  const double enough = wanted > kHopeless ? kOverview : std::min(wanted, kWidestChart);
  return static_cast<Tenths>(std::lround(std::max(comfortable, enough) / 10)) * 100;
}

std::vector<Row> strips_of(const std::vector<Lane>& lanes, const Window& window) {
  std::vector<Row> strips;
  for (const Row row : {Row::kSend, Row::kReceive, Row::kAverage, Row::kLoad})
    if (std::any_of(lanes.begin(), lanes.end(), [&](const Lane& lane) {
          return std::any_of(lane.row(row).begin(), lane.row(row).end(),
                             [&](const Event* event) { return is_seen(*event, window); });
        }))
      strips.push_back(row);
  return strips;
}

std::vector<std::string> wrapped(const std::string& text, int font, Tenths width) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.empty() && text_width(lines.back() + " " + word, font) <= width)
      lines.back() += " " + word;
    else
      lines.push_back(word);
  }
  return lines;
}

}  // namespace pipedream::report
