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

// Returns a number for the kind of op, so that ops of different kinds have different jitter.
int draw_of(const Op& op) { return static_cast<int>(op.index()); }

Nanos duration_of(const ItemTimes& times, const Op& op) {
  const auto* backward = std::get_if<Backward>(&op);
  if (backward == nullptr) return times.forward;  // a forward or a recomputation
  switch (backward->part) {
    case schedule::BackwardPart::kFull:
      return times.backward;
    case schedule::BackwardPart::kInput:
      return times.backward / 2;
    case schedule::BackwardPart::kWeight:
      return times.backward - times.backward / 2;
  }
  return times.backward;
}

std::size_t index_of(Kind kind) { return kind == Kind::kActivation ? 0 : 1; }

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
      wires_(cluster, links_, lanes_),
      averagings_(routes_, profile, links_, conditions.exchange, schedule.rules.traits.asynchronous,
                  lanes_),
      servers_(lanes_),
      program_of_(static_cast<std::size_t>(cluster.workers())),
      producer_(profile.graph.values().size()) {
  for (const graph::Transfer& transfer : routes_.transfers())
    producer_[transfer.value.index()] = transfer.from;
  for (std::size_t p = 0; p < programs_.programs(); ++p) add_worker(p);
}

void Engine::add_worker(std::size_t program) {
  const WorkerId id = programs_.worker(program);
  PD_CHECK(id.index() < program_of_.size());
  program_of_[id.index()] = static_cast<std::uint32_t>(program);
  Worker& worker = workers_.emplace_back(Worker{.id = id});
  const plan::Plan& plan = routes_.plan();
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto stage = id_at<StageId>(s);
    const auto replica = routes_.replica(stage, id);
    if (!replica) continue;
    worker.stages.push_back(
        {.stage = stage,
         .replica = *replica,
         .times = item_times(routes_, profile_, cluster_, conditions_, stage, *replica),
         .counter = schedule::Counter(schedule_.rules)});
    add_outgoing(worker.stages.back());
  }
  for (StageRun& run : worker.stages) {
    run.varies = worker.stages.size() > 1;
    for (const Kind kind : {Kind::kActivation, Kind::kGradient})
      run.wanted[index_of(kind)] = values_wanted(worker, run, {run.replica, 0}, kind);
  }
  if (schedule_.rules.traits.asynchronous)
    servers_.add_worker(id, plan.stages.front(), profile_, links_);
}

// Adds every value and gradient that the stage makes for other stages, with its bytes per item.
void Engine::add_outgoing(StageRun& run) {
  for (const Kind kind : {Kind::kActivation, Kind::kGradient})
    for (const std::size_t t : routes_.made(run.stage, kind)) {
      const graph::Transfer& transfer = routes_.transfers()[t];
      const StageId taker = schedule::Routes::taker(transfer, kind);
      const auto bytes = static_cast<double>(profile_.graph.value(transfer.value).bytes.count);
      bool first = true;
      const auto add = [&](int peer, double share) {
        double sent = run.times.bytes_share * share;
        // Every peer gets the whole of a tied weight. Its gradient goes back to one peer only.
        if (transfer.is_weight) sent = kind == Kind::kActivation || first ? 1 : 0;
        first = false;
        run.outgoing.push_back(
            {transfer.value, transfer.to, kind, routes_.worker(taker, peer), bytes * sent});
      };
      if (routes_.shares_items())
        routes_.for_each_peer(run.stage, run.replica, taker, 0, add);
      else
        add(0, 1);  // whichever replica's turn it is gets the same bytes
    }
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

bool Engine::step(std::uint32_t w, Nanos now) {
  const Op* next = programs_.peek(w);
  if (next == nullptr) return false;
  const Op op = *next;
  bool blocked = false;
  const auto start = [&](const auto&) {  // the clock continues the program when the op is over
    blocked = !compute(w, op, now);
    return false;
  };
  const auto wait = [&](bool passes) {
    blocked = !passes;
    return passes;
  };
  const auto at_once = [&](auto method, const auto& of) {
    (this->*method)(w, of, now);
    return true;
  };
  const bool passed =
      std::visit(Match{[&](const Forward& f) { return start(f); },
                       [&](const Recompute& r) { return start(r); },
                       [&](const Backward& b) { return start(b); },
                       [&](const Load& l) {
                         load(w, l);
                         return true;
                       },
                       [&](const Send& s) { return at_once(&Engine::send, s); },
                       [&](const Recv&) { return true; },
                       [&](const Reduce& r) { return at_once(&Engine::reduce, r); },
                       [&](const Push& p) { return at_once(&Engine::push, p); },
                       [&](const Await& a) { return wait(await(w, a, now)); },
                       [&](const Pull& p) { return wait(pull(w, p, now)); },
                       [&](const Update& u) { return at_once(&Engine::update, u); }},
                 op);
  workers_[w].blocked = blocked;
  if (passed) pass(w);
  return passed;
}

void Engine::reduce(std::uint32_t w, const Reduce& op, Nanos now) {
  StageRun& run = run_of(workers_[w], op.stage);
  if (run.joined < op.update) {
    run.joined = op.update;
    averagings_.join(op.stage, op.update, now, Nanos{0}, now);
  }
  run.counter.reduce();
}

void Engine::push(std::uint32_t w, const Push& op, Nanos now) {
  StageRun& run = run_of(workers_[w], op.stage);
  if (run.pushed < op.item.minibatch) {
    run.pushed = op.item.minibatch;
    servers_.push(w, op, now, Nanos{0}, now);
  }
  run.counter.push();
}

void Engine::update(std::uint32_t w, const Update& op, Nanos now) {
  Worker& worker = workers_[w];
  run_of(worker, op.stage).counter.update(op.to);
  tell({worker.id, op, now, now});
  worker.free = now;
}

Engine::StageRun& Engine::run_of(Worker& worker, StageId stage) {
  for (StageRun& run : worker.stages)
    if (run.stage == stage) return run;
  panic("a worker without that stage", __FILE__, __LINE__);
}

int Engine::values_wanted(const Worker& worker, const StageRun& run, Item item, Kind kind) const {
  int wanted = 0;
  for (const std::size_t t : routes_.taken(run.stage, kind)) {
    const graph::Transfer& transfer = routes_.transfers()[t];
    const StageId maker = kind == Kind::kActivation ? transfer.from : transfer.to;
    routes_.for_each_peer(run.stage, run.replica, maker, item.minibatch, [&](int peer, double) {
      if (routes_.worker(maker, peer) != worker.id) ++wanted;
    });
  }
  return wanted;
}

bool Engine::compute(std::uint32_t w, const Op& op, Nanos now) {
  Worker& worker = workers_[w];
  const auto [stage, item, kind, takes, makes] = *schedule::work_of(op);
  StageRun& run = run_of(worker, stage);
  Nanos start = worker.free + worker.fetching;
  Nanos transfer = worker.fetching;
  Nanos wait{0};
  const int wanted = !takes       ? 0
                     : run.varies ? values_wanted(worker, run, item, kind)
                                  : run.wanted[index_of(kind)];
  if (wanted > 0) {
    // A recomputation leaves the gradients for its backward.
    const auto came = run.arrivals[index_of(kind)].complete(item, wanted, /*take=*/makes);
    if (!came) return false;
    if (came->last > start) {
      transfer += std::min(came->last - start, came->last - came->sent);
      start = came->last;
    }
  }
  if (kind == Kind::kActivation && routes_.loads(stage)) {
    wait = std::max(Nanos{0}, worker.data_ready - start);
    start += wait;
    worker.read_ahead = {worker.read_ahead[1], start};
  }
  Nanos duration = duration_of(run.times, op);
  if (conditions_.jitter > 0)
    duration = from_seconds(to_seconds(duration) *
                            jitter_of(conditions_, worker.id, stage, item, draw_of(op)));
  const Nanos end = start + duration;
  const auto* backward = std::get_if<Backward>(&op);
  if (backward != nullptr && backward->part != schedule::BackwardPart::kInput) {
    if (worker.stages.size() > 1) note_moment(worker, stage);
    release_gradients(w, run, start, duration, now);
  }
  tell({worker.id, op, start, end, transfer, wait});
  worker.free = end;
  worker.fetching = Nanos{0};
  schedule::count(op, run.counter);
  pass(w);
  clock_.at(end, What::kWorker, w);
  return true;
}

// Keeps each different moment once. A schedule repeats itself, so there are few.
void Engine::note_moment(Worker& worker, StageId running) {
  Moment now;
  for (const StageRun& run : worker.stages) {
    if (run.stage == running) {
      now.running_stage = now.stages.size();
      now.accumulates = run.counter.accumulates();
    }
    now.stages.push_back(run.counter.now());
  }
  auto& known = worker.moments;
  if (std::find(known.rbegin(), known.rend(), now) == known.rend()) known.push_back(std::move(now));
}

// Reads up to two items ahead: reading begins once the reader is idle and the last forward but one
// that uses data has begun.
void Engine::load(std::uint32_t w, const Load& op) {
  Worker& worker = workers_[w];
  const Nanos start = std::max(worker.reader_free, worker.read_ahead[0]);
  worker.reader_free = start + run_of(worker, op.stage).times.load;
  worker.data_ready = worker.reader_free;
  tell_other({worker.id, op, start, worker.reader_free});
}

void Engine::send(std::uint32_t w, const Send& op, Nanos now) {
  Worker& worker = workers_[w];
  for (const StageRun& run : worker.stages)
    for (const Outgoing& out : run.outgoing) {
      if (out.value != op.value || out.user != op.user || out.kind != op.kind) continue;
      if (routes_.shares_items() && out.peer != op.peer) continue;
      return wires_.send(worker.id, op, out.bytes, now);
    }
  panic("a value that no stage of the worker makes", __FILE__, __LINE__);
}

void Engine::finished(const Lanes::Finished& job, Nanos now) {
  if (wires_.owns(job.lane)) return deliver(job, now);
  if (servers_.owns(job.lane)) return served(servers_.moved(job), now);
  if (const auto done = averagings_.bucket_averaged(job)) averaged(*done, now);
}

void Engine::deliver(const Lanes::Finished& job, Nanos now) {
  const WireMessage message = wires_.arrived(job.lane);
  const Send& send = message.send;
  const std::uint32_t to = program_of_[send.peer.index()];
  Worker& receiver = workers_[to];
  if (sink_.other) {
    tell_other({message.from, send, job.started, job.arrived});
    tell_other({receiver.id, Recv{send.value, send.user, send.item, send.kind, message.from},
                job.started, job.arrived});
  }
  const StageId taker = send.kind == Kind::kActivation ? send.user : producer_[send.value.index()];
  StageRun& run = run_of(receiver, taker);
  const bool sole = !run.varies && run.wanted[index_of(send.kind)] == 1;
  run.arrivals[index_of(send.kind)].add(send.item, message.sent, job.arrived, sole);
  wake(to, now);
}

void Engine::release_gradients(std::uint32_t w, StageRun& run, Nanos begin, Nanos duration,
                               Nanos now) {
  if (!schedule_.rules.traits.asynchronous && !averagings_.has(run.stage)) return;
  const Op* release = schedule::release_of_backward(
      run.stage, [&](std::size_t ahead) { return programs_.peek(w, ahead + 1); });
  if (release == nullptr) return;
  if (const auto* reduce = std::get_if<Reduce>(release)) {
    run.joined = reduce->update;
    averagings_.join(run.stage, reduce->update, begin, duration, now);
  } else {
    const Push& push = std::get<Push>(*release);
    run.pushed = push.item.minibatch;
    servers_.push(w, push, begin, duration, now);
  }
}

void Engine::averaged(const Averagings::Done& done, Nanos now) {
  const auto& members = routes_.plan().stage(done.stage).workers;
  for (const WorkerId member : members)
    tell_other({member, Reduce{done.stage, done.update}, done.began, now});
  for (const WorkerId member : members) wake(program_of_[member.index()], now);
}

bool Engine::await(std::uint32_t w, const Await& op, Nanos now) {
  const auto ready = averagings_.take(op.stage, op.update);
  if (!ready) return false;
  Worker& worker = workers_[w];
  // Idle time until the slowest replica had its gradients is waiting; the rest is transfer.
  const Nanos gap = now - worker.free;
  const Nanos wait = std::clamp(*ready - worker.free, Nanos{0}, gap);
  tell({worker.id, op, now, now, gap - wait, wait});
  worker.free = now;
  return true;
}

void Engine::served(const ServerTraffic::Done& done, Nanos now) {
  if (done.pushed) tell_other({workers_[done.worker].id, *done.pushed, done.began, now});
  if (done.pulled) wake(done.worker, now);
}

bool Engine::pull(std::uint32_t w, const Pull& op, Nanos now) {
  const auto began = servers_.pull(w, now);
  if (!began) return false;
  Worker& worker = workers_[w];
  tell_other({worker.id, op, *began, now});
  worker.fetching = now - worker.free;
  run_of(worker, op.stage).counter.fetch(op.to);
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
    for (const StageRun& run : worker.stages)
      peaks.stages.emplace_back(run.stage, run.counter.peak());
    result.peaks.push_back(std::move(peaks));
  }
  return result;
}

}  // namespace pipedream::simulate
