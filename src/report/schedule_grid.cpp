#include "report/schedule_grid.h"

#include <algorithm>
#include <map>

#include "report/table.h"

namespace pipedream::report {
namespace {

// Returns the op's text without the weight version, as in "F3.1".
std::string label_of(const schedule::Op& op, bool with_stages) {
  const std::string text = schedule::to_text(op, with_stages);
  return text.substr(0, text.find('@'));
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

std::string dashes(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "─";
  return text;
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string schedule_grid(const timeline::Timeline& timeline, Nanos unit, bool with_stages) {
  std::map<WorkerId, std::map<std::size_t, std::string>> cells;
  std::size_t columns = 0;
  std::size_t width = 2;
  for (const timeline::Event& event : timeline.events) {
    auto& row = cells[event.worker];
    if (!timeline::on_compute_lane(event.op) || event.end == event.start) continue;
    // The time of a replica's share of an item may be a nanosecond short of whole units.
    const auto first = static_cast<std::size_t>((event.start + unit / 2) / unit);
    const auto end = static_cast<std::size_t>((event.end + unit / 2) / unit);
    const std::string label = label_of(event.op, with_stages);
    for (std::size_t c = first; c < std::max(end, first + 1); ++c)
      row[c] = c == first ? label : "";  // empty: the op goes on
    width = std::max(width, width_of(label));
    columns = std::max(columns, end);
  }
  width = std::max(width, std::to_string(columns).size());
  const std::size_t margin =
      8 + std::to_string(cells.empty() ? 0 : cells.rbegin()->first.value).size();
  std::string text = padded("time", margin) + " ";
  for (std::size_t c = 0; c < columns; ++c) text += padded(std::to_string(c), width) + " ";
  text = without_trailing_spaces(text) + "\n";
  for (const auto& [worker, row] : cells) {
    std::string line = padded("worker " + std::to_string(worker.value), margin) + " ";
    for (std::size_t c = 0; c < columns; ++c) {
      const auto cell = row.find(c);
      if (cell == row.end())
        line += std::string(width + 1, ' ');
      else
        line += (cell->second.empty() ? dashes(width) : padded(cell->second, width)) + " ";
    }
    text += without_trailing_spaces(line) + "\n";
  }
  return text;
}

}  // namespace pipedream::report
