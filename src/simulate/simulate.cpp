#include "simulate/simulate.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "core/check.h"
#include "core/match.h"
#include "cost/compute.h"
#include "cost/links.h"
#include "graph/cut.h"

namespace pipedream::simulate {
namespace {

using schedule::Backward;
using schedule::Forward;
using schedule::Kind;
using schedule::Load;
using schedule::Op;
using schedule::Program;
using schedule::Recv;
using schedule::Send;
using schedule::Update;

using Received = std::tuple<ValueId, schedule::Item, Kind>;
using Message = std::tuple<ValueId, schedule::Item, Kind, WorkerId, WorkerId>;  // from, to

class Simulation {
 public:
  Simulation(std::span<const Program> programs, const plan::Plan& plan,
             const profile::Profile& profile, const cluster::Cluster& cluster)
      : programs_(programs),
        profile_(profile),
        cluster_(cluster),
        transfers_(graph::transfers_between(profile.graph,
                                            plan::stage_of_each_layer(plan, profile.graph))),
        next_(programs.size()),
        now_(programs.size(), Nanos{0}),
        arrived_(programs.size()),
        events_(programs.size()) {
    for (const plan::Stage& stage : plan.stages)
      stages_.push_back(cost::stage_time(profile, stage.layers));
  }

  // Lets each program run until it needs a message that is not sent yet, round and round.
  timeline::Timeline run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t p = 0; p < programs_.size(); ++p)
        while (next_[p] < programs_[p].ops.size() && step(p)) moved = true;
    }
    timeline::Timeline result;
    for (std::size_t p = 0; p < programs_.size(); ++p) {
      PD_CHECK(next_[p] == programs_[p].ops.size());  // validate() found no cycle
      std::move(events_[p].begin(), events_[p].end(), std::back_inserter(result.events));
    }
    return result;
  }

 private:
  bool step(std::size_t p) {
    const Op& op = programs_[p].ops[next_[p]];
    const bool ran =
        std::visit(Match{[&](const Load&) { return record(p, op, now_[p], now_[p]); },
                         [&](const Update&) { return record(p, op, now_[p], now_[p]); },
                         [&](const Forward& f) {
                           const Nanos ready = arrival(p, f.stage, f.item, Kind::kActivation);
                           return compute(p, op, ready, stages_.at(f.stage.index()).forward);
                         },
                         [&](const Backward& b) {
                           const Nanos ready = arrival(p, b.stage, b.item, Kind::kGradient);
                           return compute(p, op, ready, stages_.at(b.stage.index()).backward);
                         },
                         [&](const Send& s) { return send(p, op, s); },
                         [&](const Recv& r) { return receive(p, op, r); }},
                   op);
    if (ran) ++next_[p];
    return ran;
  }

  bool record(std::size_t p, const Op& op, Nanos start, Nanos end) {
    events_[p].push_back({programs_[p].worker, op, start, end});
    return true;
  }

  // When the last of the values that the op takes from other workers was there.
  Nanos arrival(std::size_t p, StageId stage, schedule::Item item, Kind kind) {
    Nanos last{0};
    for (const graph::Transfer& t : transfers_) {
      if ((kind == Kind::kActivation ? t.to : t.from) != stage) continue;
      const auto received = arrived_[p].find({t.value, item, kind});
      if (received == arrived_[p].end()) continue;  // handed over by a stage of the same worker
      last = std::max(last, received->second);
    }
    return last;
  }

  bool compute(std::size_t p, const Op& op, Nanos ready, Nanos duration) {
    const double speed = cluster_.devices.at(programs_[p].worker.index()).speed;
    const Nanos start = std::max(now_[p], ready);
    now_[p] = start + from_seconds(to_seconds(duration) / speed);
    return record(p, op, start, now_[p]);
  }

  bool send(std::size_t p, const Op& op, const Send& s) {
    const WorkerId from = programs_[p].worker;
    Nanos& free = link_free_[{from, s.peer}];
    const Nanos start = std::max(free, now_[p]);
    free = start + cost::transfer_time(cluster_, from, s.peer, profile_.graph.value(s.value).bytes);
    sent_[{s.value, s.item, s.kind, from, s.peer}].emplace_back(start, free);
    return record(p, op, start, free);
  }

  bool receive(std::size_t p, const Op& op, const Recv& r) {
    const auto message = sent_.find({r.value, r.item, r.kind, r.peer, programs_[p].worker});
    if (message == sent_.end()) return false;
    const auto [start, end] = message->second.front();
    arrived_[p][{r.value, r.item, r.kind}] = std::max(arrived_[p][{r.value, r.item, r.kind}], end);
    message->second.pop_front();
    if (message->second.empty()) sent_.erase(message);
    return record(p, op, start, end);
  }

  std::span<const Program> programs_;
  const profile::Profile& profile_;
  const cluster::Cluster& cluster_;
  std::vector<graph::Transfer> transfers_;
  std::vector<cost::StageTime> stages_;
  std::vector<std::size_t> next_;
  std::vector<Nanos> now_;  // when each worker's compute is free
  std::vector<std::map<Received, Nanos>> arrived_;
  std::vector<std::vector<timeline::Event>> events_;
  std::map<std::pair<WorkerId, WorkerId>, Nanos> link_free_;
  // Start and end of each; several where stages of one worker take, or give back, the same value.
  std::map<Message, std::deque<std::pair<Nanos, Nanos>>> sent_;
};

}  // namespace

timeline::Timeline simulate(std::span<const Program> programs, const plan::Plan& plan,
                            const profile::Profile& profile, const cluster::Cluster& cluster) {
  return Simulation(programs, plan, profile, cluster).run();
}

}  // namespace pipedream::simulate
