#include "report/timeline_lanes.h"

#include <algorithm>
#include <map>

#include "core/match.h"

namespace pipedream::report {

using timeline::Event;

Row row_of(const schedule::Op& op) {
  return std::visit(Match{[](const schedule::Load&) { return Row::kLoad; },
                          [](const schedule::Send&) { return Row::kSend; },
                          [](const schedule::Recv&) { return Row::kReceive; },
                          [](const schedule::Reduce&) { return Row::kAverage; },
                          [](const schedule::Push&) { return Row::kAverage; },
                          [](const auto&) { return Row::kCompute; }},
                    op);
}

std::optional<StageId> stage_of(const schedule::Op& op) {
  return std::visit(
      [](const auto& any) -> std::optional<StageId> {
        if constexpr (requires { any.stage; }) return any.stage;
        return std::nullopt;
      },
      op);
}

std::optional<schedule::Item> item_of(const schedule::Op& op) {
  return std::visit(
      [](const auto& any) -> std::optional<schedule::Item> {
        if constexpr (requires { any.item; }) return any.item;
        return std::nullopt;
      },
      op);
}

std::optional<WeightVersion> weights_of(const schedule::Op& op) {
  return std::visit(
      [](const auto& any) -> std::optional<WeightVersion> {
        if constexpr (requires { any.weights; }) return any.weights;
        return std::nullopt;
      },
      op);
}

std::vector<Lane> lanes_of(const timeline::Timeline& timeline) {
  std::map<WorkerId, Lane> by_worker;
  for (const Event& event : timeline.events) {
    Lane& lane = by_worker[event.worker];
    lane.rows[static_cast<std::size_t>(row_of(event.op))].push_back(&event);
    const auto stage = stage_of(event.op);
    if (stage && std::find(lane.stages.begin(), lane.stages.end(), *stage) == lane.stages.end())
      lane.stages.push_back(*stage);
  }
  std::vector<Lane> lanes;
  for (auto& [worker, lane] : by_worker) {
    lane.worker = worker;
    std::sort(lane.stages.begin(), lane.stages.end());
    for (auto& row : lane.rows)
      std::stable_sort(row.begin(), row.end(),
                       [](const Event* a, const Event* b) { return a->start < b->start; });
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

}  // namespace pipedream::report
