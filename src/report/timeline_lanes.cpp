#include "report/timeline_lanes.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/match.h"

namespace pipedream::report {
namespace {

using timeline::Event;

enum class Flushing { kNever, kAlways, kUnknown };

// Returns kUnknown for a lane in which no forward follows an update or a fetch of weights.
Flushing flushing_of(const Lane& lane) {
  std::int64_t in_flight = 0;
  bool renewed = false;
  auto flushing = Flushing::kUnknown;
  for (const Event* event : lane.row(Row::kCompute)) {
    const schedule::Op& op = event->op;
    const bool forward = std::holds_alternative<schedule::Forward>(op);
    if (forward && renewed) flushing = Flushing::kAlways;
    if (forward) ++in_flight;
    const auto* backward = std::get_if<schedule::Backward>(&op);
    if (backward != nullptr && backward->part != schedule::BackwardPart::kInput) --in_flight;
    if (!std::holds_alternative<schedule::Update>(op) &&
        !std::holds_alternative<schedule::Pull>(op))
      continue;
    if (in_flight > 0) return Flushing::kNever;
    renewed = true;
  }
  return flushing;
}

bool flushes(const std::vector<Lane>& lanes) {
  bool any = false;
  for (const Lane& lane : lanes) {
    const Flushing flushing = flushing_of(lane);
    if (flushing == Flushing::kNever) return false;
    any = any || flushing == Flushing::kAlways;
  }
  return any;
}

bool has_microbatches(const std::vector<Lane>& lanes) {
  for (const Lane& lane : lanes)
    for (const auto& row : lane.rows)
      for (const Event* event : row)
        if (const auto item = item_of(event->op); item && item->microbatch > 0) return true;
  return false;
}

}  // namespace

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

RunShape shape_of(const std::vector<Lane>& lanes) {
  std::set<StageId> stages;
  for (const Lane& lane : lanes) stages.insert(lane.stages.begin(), lane.stages.end());
  return {has_microbatches(lanes), stages.size() > 1, flushes(lanes)};
}

}  // namespace pipedream::report
