#include "simulate/fair_links.h"

#include <algorithm>
#include <limits>

#include "core/check.h"

namespace pipedream::simulate {

FairLinks::FairLinks(std::span<const Bandwidth> links) {
  links_.reserve(links.size());
  for (const Bandwidth bandwidth : links)
    links_.push_back({.bandwidth = bandwidth.bytes_per_second});
}

FlowId FairLinks::start(Nanos now, std::span<const Use> uses, double volume) {
  changes_.clear();
  if (unused_.empty()) {
    unused_.push_back(static_cast<FlowId>(flows_.size()));
    flows_.emplace_back();
  }
  const FlowId id = unused_.back();
  unused_.pop_back();
  Flow& flow = flows_[id];
  flow = {.uses = uses,
          .volume = volume,
          .left = volume,
          .since = now,
          .generation = flow.generation,
          .mark = flow.mark,
          .active = true};
  bool alone = true;
  double rate = std::numeric_limits<double>::infinity();
  for (const Use& use : uses) {
    Link& link = links_[use.link];
    alone = alone && link.flows.empty();
    rate = std::min(rate, link.bandwidth / use.weight);
    link.flows.push_back(id);
  }
  if (alone) {
    set_rate(now, id, rate);
  } else {
    collect(uses);
    share(now);
  }
  return id;
}

void FairLinks::finish(Nanos now, FlowId id) {
  changes_.clear();
  Flow& flow = flows_[id];
  PD_CHECK(flow.active);
  flow.active = false;
  bool alone = true;
  for (const Use& use : flow.uses) {
    Link& link = links_[use.link];
    link.bytes += use.weight * flow.volume;
    *std::find(link.flows.begin(), link.flows.end(), id) = link.flows.back();
    link.flows.pop_back();
    alone = alone && link.flows.empty();
  }
  unused_.push_back(id);
  if (alone) return;
  collect(flow.uses);
  share(now);
}

// Collects the flows on the links of `around`, the flows that share a link with any of these, and
// so on, in near_, and all their links in touched_.
void FairLinks::collect(std::span<const Use> around) {
  ++mark_;
  near_.clear();
  touched_.clear();
  const auto touch = [&](std::uint32_t l) {
    if (links_[l].mark == mark_) return;
    links_[l].mark = mark_;
    touched_.push_back(l);
  };
  for (const Use& use : around) touch(use.link);
  for (std::size_t i = 0; i < touched_.size(); ++i)
    for (const FlowId f : links_[touched_[i]].flows) {
      if (flows_[f].mark == mark_) continue;
      flows_[f].mark = mark_;
      near_.push_back(f);
      for (const Use& use : flows_[f].uses) touch(use.link);
    }
}

// Progressive filling: all rates grow at the same pace until a link is full. The flows on that link
// keep their rate, and the others go on growing.
void FairLinks::share(Nanos now) {
  for (const std::uint32_t l : touched_) {
    links_[l].free = links_[l].bandwidth;
    links_[l].weight = 0;
  }
  for (const FlowId f : near_) {
    flows_[f].frozen = false;
    for (const Use& use : flows_[f].uses) links_[use.link].weight += use.weight;
  }
  for (std::size_t left = near_.size(); left > 0;) {
    double lowest = std::numeric_limits<double>::infinity();
    std::uint32_t full = 0;
    for (const std::uint32_t l : touched_) {
      if (links_[l].weight <= 0) continue;
      const double rate = links_[l].free / links_[l].weight;
      if (rate < lowest) {
        lowest = rate;
        full = l;
      }
    }
    PD_CHECK(lowest < std::numeric_limits<double>::infinity());
    for (const FlowId f : links_[full].flows) {
      Flow& flow = flows_[f];
      if (flow.frozen) continue;
      flow.frozen = true;
      --left;
      for (const Use& use : flow.uses) {
        Link& link = links_[use.link];
        link.free = std::max(0.0, link.free - lowest * use.weight);
        link.weight -= use.weight;
      }
      if (lowest != flow.rate) set_rate(now, f, lowest);
    }
    links_[full].weight = 0;  // rounding may have left a rest
  }
}

void FairLinks::set_rate(Nanos now, FlowId id, double rate) {
  Flow& flow = flows_[id];
  flow.left = std::max(0.0, flow.left - flow.rate * to_seconds(now - flow.since));
  flow.since = now;
  flow.rate = rate;
  const double seconds = flow.left / rate;
  const Nanos end = seconds < to_seconds(kNever) ? now + from_seconds(seconds) : kNever;
  changes_.push_back({id, ++flow.generation, end});
}

}  // namespace pipedream::simulate
