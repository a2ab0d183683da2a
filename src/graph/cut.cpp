#include "graph/cut.h"

#include <algorithm>

#include "core/check.h"

namespace pipedream::graph {

std::vector<ValueId> values_crossing(const Graph& graph, const std::vector<bool>& before) {
  PD_CHECK(before.size() == graph.layers().size());
  std::vector<ValueId> crossing;
  for (std::size_t i = 0; i < graph.values().size(); ++i) {
    const Value& value = graph.values()[i];
    if (!before[value.producer.index()] || graph.layer(value.producer).is_input) continue;
    const bool used_after = std::any_of(value.consumers.begin(), value.consumers.end(),
                                        [&](LayerId user) { return !before[user.index()]; });
    if (used_after) crossing.push_back(id_at<ValueId>(i));
  }
  return crossing;
}

std::vector<Bytes> bytes_crossing_each_prefix(const Graph& graph) {
  const std::vector<std::size_t> places = places_in_order(graph);

  // A value crosses every prefix that holds its producer but not its last consumer. Its bytes are
  // added where this range of prefixes begins and subtracted where it ends; a running sum then
  // gives all entries.
  std::vector<Bytes> bytes(graph.layers().size() + 1);
  for (const Value& value : graph.values()) {
    if (value.consumers.empty() || graph.layer(value.producer).is_input) continue;
    std::size_t last = 0;
    for (const LayerId user : value.consumers) last = std::max(last, places[user.index()]);
    bytes[places[value.producer.index()] + 1] += value.bytes;
    bytes[last + 1] = bytes[last + 1] - value.bytes;
  }
  for (std::size_t p = 1; p < bytes.size(); ++p) bytes[p] += bytes[p - 1];
  return bytes;
}

std::vector<Transfer> transfers_between(const Graph& graph, const std::vector<StageId>& stage_of) {
  PD_CHECK(stage_of.size() == graph.layers().size());
  std::vector<Transfer> transfers;
  for (std::size_t i = 0; i < graph.values().size(); ++i) {
    const Value& value = graph.values()[i];
    if (graph.layer(value.producer).is_input) continue;
    const StageId from = stage_of[value.producer.index()];
    const auto first_of_value = static_cast<std::ptrdiff_t>(transfers.size());
    for (const LayerId user : value.consumers) {
      const StageId to = stage_of[user.index()];
      if (to != from) transfers.push_back({id_at<ValueId>(i), from, to, value.is_weight});
    }
    std::sort(transfers.begin() + first_of_value, transfers.end());
    transfers.erase(std::unique(transfers.begin() + first_of_value, transfers.end()),
                    transfers.end());
  }
  return transfers;
}

}  // namespace pipedream::graph
