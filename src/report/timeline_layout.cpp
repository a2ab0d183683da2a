#include "report/timeline_layout.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "report/table.h"

namespace pipedream::report {
namespace {

using timeline::Event;

constexpr Tenths kTwoLines = 200;  // a lane of this height has a label of two lines

std::string stage_text(const std::vector<StageId>& stages) {
  std::string text = stages.size() > 1 ? "stages " : "stage ";
  for (std::size_t i = 0; i < stages.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(stages[i].value);
  return stages.empty() ? "" : shortened(text, 20);
}

}  // namespace

LaneSizes lane_sizes(std::size_t workers) {
  if (workers <= 8) return {280, 90, 110};
  if (workers <= 20) return {220, 70, 80};
  if (workers <= 64) return {120, 30, 50};
  return {60, 20, 20};
}

std::vector<Line> label_of(const Lane& lane, const LaneSizes& sizes) {
  const std::string worker = fmt::format("worker {}", lane.worker.value);
  const std::string stages = stage_text(lane.stages);
  if (stages.empty()) return {{worker, 11}};
  if (sizes.compute >= kTwoLines) return {{worker, 11}, {stages, 9}};
  return {{worker + ", " + stages, 9}};
}

Tenths label_width(const std::vector<Lane>& lanes, const LaneSizes& sizes) {
  Tenths widest = 300;
  for (const Lane& lane : lanes)
    for (const auto& [text, font] : label_of(lane, sizes))
      widest = std::max(widest, text_width(text, font));
  return widest;
}

std::vector<Row> strips_of(const std::vector<Lane>& lanes, const std::vector<Stretch>& stretches) {
  const auto is_shown = [&](const Event* event) {
    return std::any_of(stretches.begin(), stretches.end(),
                       [&](const Stretch& stretch) { return stretch.shows(*event); });
  };
  std::vector<Row> strips;
  for (const Row row : {Row::kSend, Row::kReceive, Row::kAverage, Row::kLoad})
    if (std::any_of(lanes.begin(), lanes.end(), [&](const Lane& lane) {
          return std::any_of(lane.row(row).begin(), lane.row(row).end(), is_shown);
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
