#include "simulate/lanes.h"

#include <algorithm>

#include "core/check.h"

namespace pipedream::simulate {
namespace {

std::vector<std::size_t> first_links(const cost::Links& links) {
  std::vector<std::size_t> first{0};
  for (std::size_t k = 0; k < links.levels(); ++k)
    first.push_back(first.back() + 2 * static_cast<std::size_t>(links.link_count(k)));
  return first;
}

std::vector<Bandwidth> bandwidths(const cost::Links& links) {
  std::vector<Bandwidth> all;
  for (std::size_t k = 0; k < links.levels(); ++k)
    all.insert(all.end(), 2 * static_cast<std::size_t>(links.link_count(k)),
               links.level(k).bandwidth);
  return all;
}

}  // namespace

Lanes::Lanes(const cost::Links& links, Clock& clock)
    : clock_(clock), first_link_(first_links(links)), links_(bandwidths(links)) {
  for (const Bandwidth bandwidth : bandwidths(links))
    bandwidths_.push_back(bandwidth.bytes_per_second);
}

Path Lanes::path(const std::vector<cost::LinkUse>& uses) const {
  Path path;
  double longest = 0;  // the busiest link is the one that takes longest
  for (const cost::LinkUse& use : uses) {
    const double time = use.bytes / bandwidths_[link_index(use)];
    if (time <= longest) continue;
    longest = time;
    path.scale = use.bytes;
  }
  for (const cost::LinkUse& use : uses)
    path.uses.push_back({static_cast<std::uint32_t>(link_index(use)), use.bytes / path.scale});
  return path;
}

LaneId Lanes::add(Nanos latency, bool waits_latency) {
  lanes_.push_back({.latency = latency, .waits_latency = waits_latency});
  return static_cast<LaneId>(lanes_.size() - 1);
}

void Lanes::push(LaneId lane, Nanos now, Nanos ready, double bytes, std::span<const Path> paths) {
  PD_CHECK(!paths.empty());
  lanes_[lane].jobs.push({ready, bytes, paths});
  if (lanes_[lane].state == State::kIdle) start_next(lane, now);
}

void Lanes::start_next(LaneId id, Nanos now) {
  Lane& lane = lanes_[id];
  lane.state = State::kIdle;
  if (lane.jobs.empty()) return;
  const Job& job = lane.jobs.front();
  if (job.ready > now) {
    lane.state = State::kNotReady;
    clock_.at(job.ready, What::kLane, id);
    return;
  }
  lane.started = now;
  lane.state = State::kMoving;
  start_path(id, now);
}

// Starts to move the lane's current job along its next path.
void Lanes::start_path(LaneId id, Nanos now) {
  Job& job = lanes_[id].jobs.front();
  const Path& path = job.paths.front();
  job.paths = job.paths.subspan(1);
  if (path.uses.empty()) {
    clock_.at(now, What::kLane, id);
    return;
  }
  const FlowId flow = links_.start(now, path.uses, job.bytes * path.scale);
  if (flow >= lane_of_.size()) lane_of_.resize(flow + 1);
  lane_of_[flow] = id;
  tell_clock();
}

void Lanes::tell_clock() {
  for (const FairLinks::Change& change : links_.changes())
    clock_.at(change.end, What::kFlow, change.flow, change.generation);
}

std::optional<Lanes::Finished> Lanes::flow_ends(FlowId flow, std::uint32_t generation, Nanos now) {
  if (!links_.holds(flow, generation)) return std::nullopt;
  links_.finish(now, flow);
  tell_clock();
  return moved(lane_of_[flow], now);
}

std::optional<Lanes::Finished> Lanes::moved(LaneId id, Nanos now) {
  Lane& lane = lanes_[id];
  if (!lane.jobs.front().paths.empty()) {
    start_path(id, now);
    return std::nullopt;
  }
  if (!lane.waits_latency || lane.latency == Nanos{0}) return finish(id, now, now + lane.latency);
  lane.state = State::kArriving;
  clock_.at(now + lane.latency, What::kLane, id);
  return std::nullopt;
}

Lanes::Finished Lanes::finish(LaneId id, Nanos now, Nanos arrived) {
  const Finished finished{id, lanes_[id].started, arrived};
  lanes_[id].jobs.pop();
  start_next(id, now);
  return finished;
}

std::optional<Lanes::Finished> Lanes::lane_goes_on(LaneId id, Nanos now) {
  switch (lanes_[id].state) {
    case State::kNotReady:
      start_next(id, now);
      return std::nullopt;
    case State::kMoving:
      return moved(id, now);
    case State::kArriving:
      return finish(id, now, now);
    case State::kIdle:
      break;
  }
  panic("a lane without a job goes on", __FILE__, __LINE__);
}

std::vector<cost::LinkUse> Lanes::traffic() const {
  std::vector<cost::LinkUse> all;
  for (std::size_t k = 0; k + 1 < first_link_.size(); ++k)
    for (std::size_t i = first_link_[k]; i < first_link_[k + 1]; ++i) {
      const std::size_t inside = i - first_link_[k];
      if (links_.bytes(i) > 0) all.push_back({k, inside / 2, inside % 2 == 0, links_.bytes(i)});
    }
  return all;
}

}  // namespace pipedream::simulate
