#include "simulate/engine.h"

#include <algorithm>

#include "core/check.h"
#include "core/match.h"

namespace pipedream::simulate {

using schedule::Await;
using schedule::Backward;
using schedule::Forward;
using schedule::Item;
using schedule::Kind;
using schedule::Load;
using schedule::Op;
using schedule::Pull;
using schedule::Push;
using schedule::Recompute;
using schedule::Recv;
using schedule::Reduce;
using schedule::Send;
using schedule::Update;

namespace {

// Where jitter draws its numbers from.
int draw_of(const Op& op) { return static_cast<int>(op.index()); }

Nanos duration_of(const ItemTimes& times, const Op& op) {
  const auto* backward = std::get_if<Backward>(&op);
  if (backward == nullptr) return times.forward;  // or the same again
  switch (backward->part) {
    case schedule::Part::kFull:
      return times.backward;
    case schedule::Part::kInput:
      return times.backward / 2;
    case schedule::Part::kWeight:
      return times.backward - times.backward / 2;
  }
  return times.backward;
}

std::size_t slot_index(Kind kind) { return kind == Kind::kActivation ? 0 : 1; }

}  // namespace

Engine::Engine(const schedule::Schedule& schedule, const plan::Plan& plan,
               const profile::Profile& profile, const cluster::Cluster& cluster,
               const Conditions& conditions, const Sink& sink)
    : schedule_(schedule),
      profile_(profile),
      cluster_(cluster),
      conditions_(conditions),
      sink_(sink),
      routes_(plan, profile.graph, schedule.rules.traits.replicas),
      programs_(schedule, routes_),
      links_(cluster),
      lanes_(links_, clock_),
      program_of_(static_cast<std::size_t>(cluster.workers())),
      producer_(profile.graph.values().size()),
      groups_(plan.stages.size()) {
  for (const graph::Transfer& transfer : routes_.transfers())
    producer_[transfer.value.index()] = transfer.from;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const plan::Stage& stage = plan.stages[s];
    if (stage.workers.size() < 2 || schedule.rules.traits.asynchronous) continue;
    Group& group = groups_[s];
    for (const auto& uses : cost::exchange_uses(links_, stage.workers, conditions.exchange))
      group.paths.push_back(lanes_.path(uses));
    group.buckets = cost::buckets(profile, stage.layers,
                                  item_share(routes_, profile, id_at<StageId>(s)).on_replica(0));
    group.lane =
        lanes_.add(cost::exchange_latency(links_, stage.workers, conditions.exchange), true);
    owners_.push_back({Owner::Kind::kGroup, static_cast<std::uint32_t>(s)});
    messages_.emplace_back();
    paths_.emplace_back();
  }
  for (std::size_t p = 0; p < programs_.programs(); ++p) add_worker(p);
}

void Engine::add_worker(std::size_t program) {
  const WorkerId id = programs_.worker(program);
  PD_CHECK(id.index() < program_of_.size());
  program_of_[id.index()] = static_cast<std::uint32_t>(program);
  workers_.push_back({.id = id});
  const plan::Plan& plan = routes_.plan();
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto stage = id_at<StageId>(s);
    const auto replica = routes_.replica(stage, id);
    if (!replica) continue;
    workers_.back().parts.push_back(
        {.stage = stage,
         .replica = *replica,
         .times = item_times(routes_, profile_, cluster_, conditions_, stage, *replica),
         .counter = schedule::Counter(schedule_.rules)});
    add_outgoing(workers_.back().parts.back());
  }
  Worker& worker = workers_.back();
  for (Part& part : worker.parts) {
    part.varies = worker.parts.size() > 1;
    for (const Kind kind : {Kind::kActivation, Kind::kGradient})
      part.wanted[slot_index(kind)] = values_wanted(worker, part, {part.replica, 0}, kind);
  }
  if (!schedule_.rules.traits.asynchronous) return;
  const auto& all = plan.stages.front().workers;
  Servers& servers = servers_.emplace_back();
  servers.push = lanes_.path(cost::push_uses(links_, id, all));
  servers.pull = lanes_.path(cost::pull_uses(links_, id, all));
  servers.buckets = cost::buckets(profile_, plan.stages.front().layers);
  servers.lane =
      lanes_.add(cost::exchange_latency(links_, all, cost::Exchange::kParameterServer) / 2, true);
  owners_.push_back({Owner::Kind::kServers, static_cast<std::uint32_t>(program)});
  messages_.emplace_back();
  paths_.emplace_back();
}

Result Engine::run() {
  for (std::uint32_t w = 0; w < workers_.size(); ++w) clock_.at(Nanos{0}, What::kWorker, w);
  while (!clock_.empty()) {
    const Happening now = clock_.next();
    switch (now.what()) {
      case What::kFlow:
        if (const auto job = lanes_.flow_ends(now.index(), now.generation, now.time))
          finished(*job, now.time);
        break;
      case What::kLane:
        if (const auto job = lanes_.lane_goes_on(now.index(), now.time)) finished(*job, now.time);
        break;
      case What::kWorker:
        run_worker(now.index(), now.time);
        break;
    }
  }
  for (std::size_t p = 0; p < workers_.size(); ++p)
    PD_CHECK(programs_.peek(p) == nullptr);  // a valid schedule ends
  return result();
}

void Engine::run_worker(std::uint32_t w, Nanos now) {
  workers_[w].blocked = false;
  while (step(w, now)) continue;
}

void Engine::pass(std::uint32_t w) {
  programs_.pop(w);
  ++ops_;
}

// The next op of the worker, if it can begin now. False: the worker computes, waits or has ended.
bool Engine::step(std::uint32_t w, Nanos now) {
  const Op* next = programs_.peek(w);
  if (next == nullptr) return false;
  const Op op = *next;
  Worker& worker = workers_[w];
  bool blocked = false;
  const bool passed = std::visit(Match{[&](const Forward&) {
                                         blocked = !compute(w, op, now);
                                         return false;
                                       },
                                       [&](const Recompute&) {
                                         blocked = !compute(w, op, now);
                                         return false;
                                       },
                                       [&](const Backward&) {
                                         blocked = !compute(w, op, now);
                                         return false;
                                       },
                                       [&](const Load& l) {
                                         load(w, l);
                                         return true;
                                       },
                                       [&](const Send& s) {
                                         send(w, s, now);
                                         return true;
                                       },
                                       [&](const Recv&) { return true; },
                                       [&](const Reduce& r) {
                                         Part& part = part_of(worker, r.stage);
                                         if (part.posted < r.update)
                                           join_averaging(part, r.update, now, Nanos{0}, now);
                                         part.counter.reduce();
                                         return true;
                                       },
                                       [&](const Push& p) {
                                         Part& part = part_of(worker, p.stage);
                                         if (part.pushed < p.item.minibatch)
                                           start_push(w, part, p, now, Nanos{0}, now);
                                         part.counter.push();
                                         return true;
                                       },
                                       [&](const Await& a) {
                                         blocked = !await(w, a, now);
                                         return !blocked;
                                       },
                                       [&](const Pull& p) {
                                         blocked = !pull(w, p, now);
                                         return !blocked;
                                       },
                                       [&](const Update& u) {
                                         part_of(worker, u.stage).counter.update(u.to);
                                         tell({worker.id, op, now, now});
                                         worker.free = now;
                                         return true;
                                       }},
                                 op);
  worker.blocked = blocked;
  if (passed) pass(w);
  return passed;
}

Engine::Part& Engine::part_of(Worker& worker, StageId stage) {
  for (Part& part : worker.parts)
    if (part.stage == stage) return part;
  panic("a worker without that stage", __FILE__, __LINE__);
}

int Engine::values_wanted(const Worker& worker, const Part& part, Item item, Kind kind) const {
  int wanted = 0;
  for (const std::size_t t : routes_.taken(part.stage, kind)) {
    const graph::Transfer& transfer = routes_.transfers()[t];
    const StageId maker = kind == Kind::kActivation ? transfer.from : transfer.to;
    routes_.for_each_peer(part.stage, part.replica, maker, item.minibatch, [&](int peer, double) {
      if (routes_.worker(maker, peer) != worker.id) ++wanted;
    });
  }
  return wanted;
}

bool Engine::compute(std::uint32_t w, const Op& op, Nanos now) {
  Worker& worker = workers_[w];
  const auto [stage, item, kind, takes, makes] = *schedule::work_of(op);
  Part& part = part_of(worker, stage);
  Nanos start = worker.free + worker.fetching;
  Nanos transfer = worker.fetching;
  Nanos wait{0};
  if (takes) {
    const int wanted =
        part.varies ? values_wanted(worker, part, item, kind) : part.wanted[slot_index(kind)];
    if (wanted > 0) {
      Fifo<Slot>& slots = part.slots[slot_index(kind)];
      std::size_t i = 0;
      while (i < slots.size() && slots[i].item != item) ++i;
      if (i == slots.size() || slots[i].arrived < wanted) return false;
      const Slot& slot = slots[i];
      if (slot.last > start) {
        transfer += std::min(slot.last - start, slot.last - slot.sent);
        start = slot.last;
      }
      if (makes) slots.take(i);  // a recomputation leaves it for its backward
    }
  }
  if (kind == Kind::kActivation && routes_.loads(stage)) {
    wait = std::max(Nanos{0}, worker.data_ready - start);
    start += wait;
    worker.read_ahead = {worker.read_ahead[1], start};
  }
  Nanos duration = duration_of(part.times, op);
  if (conditions_.jitter > 0)
    duration = from_seconds(to_seconds(duration) *
                            jitter_of(conditions_, worker.id, stage, item, draw_of(op)));
  const Nanos end = start + duration;
  const auto* backward = std::get_if<Backward>(&op);
  if (backward != nullptr && backward->part != schedule::Part::kInput) {
    if (worker.parts.size() > 1) note_moment(worker, stage);
    release_gradients(w, part, start, duration, now);
  }
  tell({worker.id, op, start, end, transfer, wait});
  worker.free = end;
  worker.fetching = Nanos{0};
  schedule::count(op, part.counter);
  pass(w);
  clock_.at(end, What::kWorker, w);
  return true;
}

// There are few that differ: a schedule repeats itself.
void Engine::note_moment(Worker& worker, StageId runs) {
  Moment now;
  for (const Part& part : worker.parts) {
    if (part.stage == runs) {
      now.runs = now.stages.size();
      now.accumulates = part.counter.accumulates();
    }
    now.stages.push_back(part.counter.now());
  }
  auto& known = worker.moments;
  if (std::find(known.rbegin(), known.rend(), now) == known.rend()) known.push_back(std::move(now));
}

// Data is read ahead: while an item is worked on, the next two are.
void Engine::load(std::uint32_t w, const Load& op) {
  Worker& worker = workers_[w];
  const Nanos start = std::max(worker.reader_free, worker.read_ahead[0]);
  worker.reader_free = start + part_of(worker, op.stage).times.load;
  worker.data_ready = worker.reader_free;
  if (sink_.other) sink_.other({worker.id, op, start, worker.reader_free});
}

LaneId Engine::wire(std::uint32_t w, WorkerId peer) {
  Worker& worker = workers_[w];
  for (const Worker::Known& known : worker.recent)
    if (known.peer == peer) return known.lane;
  const auto [found, added] = worker.wires.try_emplace(peer.value, 0);
  worker.recent = {Worker::Known{peer, found->second}, worker.recent[0]};
  if (!added) return found->second;
  const WorkerId from = workers_[w].id;
  const cluster::Level& level = cluster_.levels[cluster_.level_between(from, peer)];
  found->second = worker.recent[0].lane = lanes_.add(level.latency, false);
  owners_.push_back({Owner::Kind::kWire, w});
  messages_.emplace_back();
  paths_.push_back(std::make_unique<Path>(lanes_.path(cost::transfer_uses(links_, from, peer))));
  return found->second;
}

// Every value that the part makes for others, with what one item of it has in bytes for each.
void Engine::add_outgoing(Part& part) {
  for (const Kind kind : {Kind::kActivation, Kind::kGradient})
    for (const std::size_t t : routes_.made(part.stage, kind)) {
      const graph::Transfer& transfer = routes_.transfers()[t];
      const StageId taker = schedule::Routes::taker(transfer, kind);
      const auto bytes = static_cast<double>(profile_.graph.value(transfer.value).bytes.count);
      bool first = true;
      const auto add = [&](int peer, double share) {
        double part_of_it = part.times.bytes_share * share;
        if (transfer.is_weight) part_of_it = kind == Kind::kActivation || first ? 1 : 0;
        first = false;
        part.outgoing.push_back(
            {transfer.value, transfer.to, kind, routes_.worker(taker, peer), bytes * part_of_it});
      };
      if (routes_.shares_items())
        routes_.for_each_peer(part.stage, part.replica, taker, 0, add);
      else
        add(0, 1);  // the same for every replica whose turn it is
    }
}

void Engine::send(std::uint32_t w, const Send& op, Nanos now) {
  const LaneId lane = wire(w, op.peer);
  const bool turns = !routes_.shares_items();
  for (const Part& part : workers_[w].parts)
    for (const Outgoing& out : part.outgoing) {
      if (out.value != op.value || out.user != op.user || out.kind != op.kind) continue;
      if (!turns && out.peer != op.peer) continue;
      messages_[lane].push({op, now});
      lanes_.push(lane, now, now, out.bytes, *paths_[lane]);
      return;
    }
  panic("a value that no stage of the worker makes", __FILE__, __LINE__);
}

void Engine::finished(const Lanes::Finished& job, Nanos now) {
  const Owner owner = owners_[job.lane];
  switch (owner.kind) {
    case Owner::Kind::kWire:
      return deliver(owner.index, job, now);
    case Owner::Kind::kGroup:
      return averaged({static_cast<std::int32_t>(owner.index)}, job, now);
    case Owner::Kind::kServers:
      return served(owner.index, job, now);
  }
}

// Where an item's values are gathered; what comes in was most likely begun last.
Engine::Slot& Engine::slot_for(Part& part, Kind kind, Item item) {
  Fifo<Slot>& slots = part.slots[slot_index(kind)];
  const bool is_only = !part.varies && part.wanted[slot_index(kind)] == 1;
  for (std::size_t i = is_only ? 0 : slots.size(); i-- > 0;)
    if (slots[i].item == item) return slots[i];
  slots.push({.item = item});
  return slots.back();
}

void Engine::deliver(std::uint32_t from, const Lanes::Finished& job, Nanos now) {
  const Message message = messages_[job.lane].front();
  messages_[job.lane].pop();
  const Send& send = message.send;
  const std::uint32_t to = program_of_[send.peer.index()];
  Worker& receiver = workers_[to];
  if (sink_.other) {
    const WorkerId sender = workers_[from].id;
    sink_.other({sender, send, job.started, job.arrived});
    sink_.other({receiver.id, Recv{send.value, send.user, send.item, send.kind, sender},
                 job.started, job.arrived});
  }
  const StageId taker = send.kind == Kind::kActivation ? send.user : producer_[send.value.index()];
  Slot& slot = slot_for(part_of(receiver, taker), send.kind, send.item);
  ++slot.arrived;
  if (job.arrived >= slot.last) {
    slot.last = job.arrived;
    slot.sent = message.sent;
  }
  if (receiver.blocked) run_worker(to, now);
}

void Engine::release_gradients(std::uint32_t w, Part& part, Nanos begin, Nanos duration,
                               Nanos now) {
  if (!schedule_.rules.traits.asynchronous && groups_[part.stage.index()].buckets.empty()) return;
  const Op* release = schedule::release_of_backward(
      part.stage, [&](std::size_t ahead) { return programs_.peek(w, ahead + 1); });
  if (release == nullptr) return;
  if (const auto* reduce = std::get_if<Reduce>(release))
    join_averaging(part, reduce->update, begin, duration, now);
  else
    start_push(w, part, std::get<Push>(*release), begin, duration, now);
}

namespace {

std::vector<Nanos> release_times(const std::vector<cost::Bucket>& buckets, Nanos begin,
                                 Nanos duration) {
  std::vector<Nanos> times;
  for (const cost::Bucket& bucket : buckets)
    times.push_back(begin + from_seconds(to_seconds(duration) * bucket.released));
  return times;
}

}  // namespace

void Engine::join_averaging(Part& part, WeightVersion update, Nanos begin, Nanos duration,
                            Nanos now) {
  part.posted = update;
  Group& group = groups_[part.stage.index()];
  Fifo<Averaging>& averagings = group.averagings;
  std::size_t i = 0;
  while (i < averagings.size() && averagings[i].update != update) ++i;
  if (i == averagings.size())
    averagings.push({.update = update, .ready = std::vector<Nanos>(group.buckets.size())});
  Averaging& averaging = averagings[i];
  const std::vector<Nanos> released = release_times(group.buckets, begin, duration);
  for (std::size_t b = 0; b < released.size(); ++b)
    averaging.ready[b] = std::max(averaging.ready[b], released[b]);
  if (++averaging.members < routes_.replicas(part.stage)) return;
  for (std::size_t b = 0; b < released.size(); ++b)
    lanes_.push(group.lane, now, averaging.ready[b],
                static_cast<double>(group.buckets[b].weights.count), group.paths);
}

void Engine::averaged(StageId stage, const Lanes::Finished& job, Nanos now) {
  Group& group = groups_[stage.index()];
  std::size_t i = 0;
  while (group.averagings[i].done) ++i;
  Averaging& averaging = group.averagings[i];
  if (averaging.buckets_done == 0) averaging.began = job.started;
  if (++averaging.buckets_done < group.buckets.size()) return;
  averaging.done = now;
  const WeightVersion update = averaging.update;
  const Nanos began = averaging.began;
  const auto& members = routes_.plan().stage(stage).workers;
  if (sink_.other)
    for (const WorkerId member : members) sink_.other({member, Reduce{stage, update}, began, now});
  for (const WorkerId member : members)
    if (workers_[program_of_[member.index()]].blocked) run_worker(program_of_[member.index()], now);
}

bool Engine::await(std::uint32_t w, const Await& op, Nanos now) {
  Fifo<Averaging>& averagings = groups_[op.stage.index()].averagings;
  std::size_t i = 0;
  while (i < averagings.size() && averagings[i].update != op.update) ++i;
  if (i == averagings.size() || !averagings[i].done) return false;
  Averaging& averaging = averagings[i];
  Worker& worker = workers_[w];
  // Until the slowest member had its gradients it was waiting for that, not for the links.
  const Nanos gap = now - worker.free;
  const Nanos wait = std::clamp(averaging.ready.back() - worker.free, Nanos{0}, gap);
  tell({worker.id, op, now, now, gap - wait, wait});
  worker.free = now;
  if (++averaging.passed == routes_.replicas(op.stage)) averagings.take(i);
  return true;
}

void Engine::start_push(std::uint32_t w, Part& part, const Push& push, Nanos begin, Nanos duration,
                        Nanos now) {
  part.pushed = push.item.minibatch;
  Servers& servers = servers_[w];
  servers.pushing = push;
  const std::vector<Nanos> released = release_times(servers.buckets, begin, duration);
  for (std::size_t b = 0; b < released.size(); ++b) {
    servers.jobs.push({.is_pull = false, .is_last = b + 1 == released.size()});
    lanes_.push(servers.lane, now, released[b],
                static_cast<double>(servers.buckets[b].weights.count), servers.push);
  }
}

void Engine::served(std::uint32_t w, const Lanes::Finished& job, Nanos now) {
  Servers& servers = servers_[w];
  const Servers::Job done = servers.jobs.front();
  servers.jobs.pop();
  if (done.is_pull) {
    servers.pulled = true;
    servers.pull_began = job.started;
    if (workers_[w].blocked) run_worker(w, now);
    return;
  }
  if (servers.push_began == Nanos{-1}) servers.push_began = job.started;
  if (!done.is_last) return;
  if (sink_.other) sink_.other({workers_[w].id, servers.pushing, servers.push_began, now});
  servers.push_began = Nanos{-1};
}

// What is fetched is what the servers hold once they have this worker's own gradients.
bool Engine::pull(std::uint32_t w, const Pull& op, Nanos now) {
  Servers& servers = servers_[w];
  Worker& worker = workers_[w];
  if (!servers.pulling) {
    servers.pulling = true;
    servers.jobs.push({.is_pull = true, .is_last = true});
    double weights = 0;
    for (const cost::Bucket& bucket : servers.buckets)
      weights += static_cast<double>(bucket.weights.count);
    lanes_.push(servers.lane, now, now, weights, servers.pull);
  }
  if (!servers.pulled) return false;
  if (sink_.other) sink_.other({worker.id, op, servers.pull_began, now});
  worker.fetching = now - worker.free;
  part_of(worker, op.stage).counter.fetch(op.to);
  servers.pulling = servers.pulled = false;
  return true;
}

Result Engine::result() const {
  Result result;
  result.ops = ops_;
  for (const cost::LinkUse& use : lanes_.traffic()) {
    const bool same = !result.links.empty() && result.links.back().level == use.level &&
                      result.links.back().link == use.link;
    if (!same) result.links.push_back({use.level, use.link});
    (use.outwards ? result.links.back().out : result.links.back().in) += use.bytes;
    if (use.outwards) result.bytes += use.bytes;
  }
  for (const Worker& worker : workers_) {
    WorkerPeaks peaks{worker.id, {}, worker.moments};
    for (const Part& part : worker.parts)
      peaks.stages.emplace_back(part.stage, part.counter.peak());
    result.peaks.push_back(std::move(peaks));
  }
  return result;
}

}  // namespace pipedream::simulate
