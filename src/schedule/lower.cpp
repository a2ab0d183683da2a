#include "schedule/lower.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/check.h"
#include "core/error.h"

namespace pipedream::schedule {
namespace {

constexpr auto kNoProgram = static_cast<std::size_t>(-1);

}  // namespace

Lowering::Lowering(const Schedule& schedule, const Routes& routes)
    : routes_(routes), averaging_(routes.plan().stages.size()) {
  for (const Generator& generator : schedule.generators) {
    const std::size_t w = generator.worker.index();
    if (w >= by_worker_.size()) by_worker_.resize(w + 1, kNoProgram);
    if (by_worker_[w] != kNoProgram)
      throw BadValue("worker " + std::to_string(generator.worker.value) + " has two programs");
    by_worker_[w] = programs_.size();
    programs_.push_back({.worker = generator.worker, .generator = &generator});
  }
  std::size_t boxes = 0;
  for (const graph::Transfer& transfer : routes.transfers())
    for (const StageId taker : {transfer.to, transfer.from}) {
      first_inbox_.push_back(boxes);
      boxes += static_cast<std::size_t>(routes.replicas(taker));
    }
  inboxes_.resize(boxes);
  find_islands(schedule.rules.traits.asynchronous);
}

std::size_t Lowering::program_of(WorkerId worker) const {
  return worker.index() < by_worker_.size() ? by_worker_[worker.index()] : kNoProgram;
}

// Puts programs into one island if anything may pass between their workers, directly or through
// others. Asynchronous replicas pass nothing to each other.
void Lowering::find_islands(bool asynchronous) {
  const auto& stages = routes_.plan().stages;
  std::vector<std::size_t> parent(
      std::max(by_worker_.size(), static_cast<std::size_t>(plan::worker_count(routes_.plan()))));
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t w) {
    while (parent[w] != w) w = parent[w] = parent[parent[w]];
    return w;
  };
  const auto join = [&](WorkerId a, WorkerId b) { parent[root(a.index())] = root(b.index()); };
  for (const graph::Transfer& transfer : routes_.transfers()) {
    const auto& from = stages[transfer.from.index()].workers;
    const auto& to = stages[transfer.to.index()].workers;
    // If replicas take turns, replica i of one stage meets replica j of the other exactly when i
    // and j are equal modulo the greatest common divisor of the two numbers of replicas.
    const std::size_t apart = routes_.shares_items() ? 1 : std::gcd(from.size(), to.size());
    for (std::size_t i = 0; i < from.size(); ++i) join(from[i], to[i % apart]);
    for (std::size_t j = 0; j < to.size(); ++j) join(to[j], from[j % apart]);
  }
  for (const plan::Stage& stage : stages)
    for (const WorkerId worker : stage.workers)
      if (!asynchronous) join(worker, stage.workers.front());
  std::vector<std::size_t> island_of(parent.size(), kNoProgram);
  for (std::size_t p = 0; p < programs_.size(); ++p) {
    std::size_t& island = island_of[root(programs_[p].worker.index())];
    if (island == kNoProgram) {
      island = islands_.size();
      islands_.emplace_back();
    }
    programs_[p].island = island;
    islands_[island].members.push_back(p);
  }
  for (Island& island : islands_) island.now.assign(island.members.rbegin(), island.members.rend());
}

int Lowering::checked_replica(std::size_t p, StageId stage, const Op& op) const {
  const auto text = [&] {
    return "worker " + std::to_string(programs_[p].worker.value) + " runs " + to_text(op, true) +
           ", but the plan ";
  };
  if (stage.value < 0 || stage.index() >= routes_.plan().stages.size())
    throw BadValue(text() + "has only " + std::to_string(routes_.plan().stages.size()) + " stages");
  const auto replica = routes_.replica(stage, programs_[p].worker);
  if (!replica) throw BadValue(text() + "does not give that stage to it");
  return *replica;
}

int Lowering::parts_wanted(const graph::Transfer& transfer, Kind kind, int replica) const {
  int parts = 0;
  routes_.for_each_peer(Routes::taker(transfer, kind), replica, Routes::maker(transfer, kind), 0,
                        [&](int, double) { ++parts; });
  return parts;
}

// Gives one program of the island its turn. Returns false if all programs of the island have ended.
bool Lowering::advance(std::size_t which) {
  Island& island = islands_[which];
  if (island.now.empty()) {
    if (island.next.empty()) {
      for (const std::size_t p : island.members)
        if (programs_[p].waits != Waits::kNo) refuse_unfinished(island);
      return false;
    }
    std::sort(island.next.begin(), island.next.end(), std::greater<>());
    std::swap(island.now, island.next);
  }
  const std::size_t p = island.now.back();
  island.now.pop_back();
  ProgramState& program = programs_[p];
  while (program.in.empty() && program.piece < program.generator->pieces)
    program.generator->append(program.piece++, program.in.block());
  if (program.in.empty()) return true;
  if (!try_take_inputs(p, program.in.front())) return true;
  program.waits = Waits::kNo;
  const Op op = program.in.front();
  program.in.pop();
  ++program.placed;
  place(p, op);
  island.next.push_back(p);
  return true;
}

bool Lowering::try_take_inputs(std::size_t p, const Op& op) {
  ProgramState& program = programs_[p];
  if (const auto* await = std::get_if<Await>(&op)) {
    (void)checked_replica(p, await->stage, op);
    Fifo<BegunAveraging>& averaging = averaging_[await->stage.index()];
    for (std::size_t i = 0; i < averaging.size(); ++i)
      if (averaging[i].update == await->update &&
          averaging[i].members == routes_.replicas(await->stage)) {
        if (--averaging[i].left == 0) averaging.remove(i);
        return true;
      }
    program.waits = Waits::kAverage;
    program.await = *await;
    return false;
  }
  const auto work = work_of(op);
  if (!work || !work->takes) return true;
  const int replica = checked_replica(p, work->stage, op);
  if (!routes_.has_part(work->stage, replica, work->item.minibatch))
    throw BadValue(
        "worker " + std::to_string(program.worker.value) + " runs " + to_text(op, true) +
        ", but the plan gives that to worker " +
        std::to_string(plan::worker_of(routes_.plan(), work->stage, work->item.minibatch).value));
  for (const std::size_t t : routes_.taken(work->stage, work->kind)) {
    const std::size_t box = inbox(t, work->kind, replica);
    Fifo<Arrived>& arrived = inboxes_[box];
    const int wanted = parts_wanted(routes_.transfers()[t], work->kind, replica);
    std::size_t i = 0;
    while (i < arrived.size() && arrived[i].item != work->item) ++i;
    if (i < arrived.size() && arrived[i].parts == wanted) continue;
    program.waits = Waits::kValue;
    program.inbox = box;
    program.item = work->item;
    return false;
  }
  // A forward or backward uses up what it takes. A recomputation leaves the gradients for its
  // backward.
  if (work->makes)
    for (const std::size_t t : routes_.taken(work->stage, work->kind)) {
      Fifo<Arrived>& arrived = inboxes_[inbox(t, work->kind, replica)];
      std::size_t i = 0;
      while (arrived[i].item != work->item) ++i;
      arrived.remove(i);
    }
  return true;
}

void Lowering::wake(std::size_t p) {
  programs_[p].waits = Waits::kNo;
  islands_[programs_[p].island].next.push_back(p);
}

void Lowering::place(std::size_t p, const Op& op) {
  if (const auto* f = std::get_if<Forward>(&op); f != nullptr && routes_.loads(f->stage))
    programs_[p].out.push(Load{f->stage, f->item});
  programs_[p].out.push(op);
  if (const auto work = work_of(op); work && work->makes) hand_over(p, op, *work);
  const auto* reduce = std::get_if<Reduce>(&op);
  if (reduce == nullptr) return;
  (void)checked_replica(p, reduce->stage, op);
  Fifo<BegunAveraging>& averaging = averaging_[reduce->stage.index()];
  const int all = routes_.replicas(reduce->stage);
  std::size_t i = 0;
  while (i < averaging.size() && averaging[i].update != reduce->update) ++i;
  if (i == averaging.size()) averaging.push({reduce->update, 0, all});
  if (++averaging[i].members < all) return;
  for (const WorkerId worker : routes_.plan().stage(reduce->stage).workers) {
    const std::size_t member = program_of(worker);
    if (member != kNoProgram && programs_[member].waits == Waits::kAverage &&
        programs_[member].await == Await{reduce->stage, reduce->update})
      wake(member);
  }
}

// Hands the values or gradients that `op` made to all replicas that take them.
void Lowering::hand_over(std::size_t p, const Op& op, const Work& work) {
  const StageId stage = work.stage;
  const Item item = work.item;
  const Kind kind = work.kind;
  const int replica = *routes_.replica(stage, programs_[p].worker);
  for (const std::size_t t : routes_.made(stage, kind)) {
    const graph::Transfer& transfer = routes_.transfers()[t];
    const StageId taker = Routes::taker(transfer, kind);
    routes_.for_each_peer(stage, replica, taker, item.minibatch, [&](int other, double) {
      const WorkerId peer = routes_.worker(taker, other);
      const std::size_t receiver = program_of(peer);
      if (receiver == kNoProgram)
        throw BadValue("worker " + std::to_string(peer.value) + ", which must take what " +
                       to_text(op, true) + " makes, has no program");
      if (receiver != p) {  // between two stages of one worker nothing is sent
        programs_[p].out.push(Send{transfer.value, transfer.to, item, kind, peer});
        programs_[receiver].out.push(
            Recv{transfer.value, transfer.to, item, kind, programs_[p].worker});
      }
      const std::size_t box = inbox(t, kind, other);
      Fifo<Arrived>& arrived = inboxes_[box];
      std::size_t i = arrived.size();
      if (routes_.shares_items()) {
        i = 0;
        while (i < arrived.size() && arrived[i].item != item) ++i;
      }
      if (i == arrived.size()) arrived.push({item, 0});
      ++arrived[i].parts;
      const ProgramState& taking = programs_[receiver];
      if (taking.waits == Waits::kValue && taking.inbox == box && taking.item == item)
        wake(receiver);
    });
  }
}

// Describes what the program waits for in vain, for a message, such as the op "1:B0".
std::string Lowering::awaited_by(const ProgramState& program) const {
  if (program.waits == Waits::kAverage)
    return "all replicas to average for version " + std::to_string(program.await.update.value);
  const auto next = std::upper_bound(first_inbox_.begin(), first_inbox_.end(), program.inbox);
  const auto which = static_cast<std::size_t>(next - first_inbox_.begin()) - 1;
  const graph::Transfer& transfer = routes_.transfers()[which / 2];
  const Op maker = which % 2 == 0 ? Op(Forward{transfer.from, program.item, {}})
                                  : Op(Backward{transfer.to, program.item, {}});
  const std::string text = to_text(maker, true);
  return text.substr(0, text.find('@'));
}

void Lowering::refuse_unfinished(const Island& island) const {
  for (const std::size_t p : island.members) {
    const ProgramState& program = programs_[p];
    if (program.waits == Waits::kNo) continue;
    throw BadValue("worker " + std::to_string(program.worker.value) + " would wait for ever at " +
                   to_text(program.in[0], true) + " (op " + std::to_string(program.placed) +
                   "), which needs " + awaited_by(program));
  }
  panic("a program that waits", __FILE__, __LINE__);
}

OwnProgram::OwnProgram(const Schedule& schedule, const Routes& routes, WorkerId worker)
    : lowering_(schedule, routes) {
  for (std::size_t p = 0; p < lowering_.programs(); ++p)
    if (lowering_.worker(p) == worker) program_ = p;
}

std::vector<Program> lower(const Schedule& schedule, const plan::Plan& plan,
                           const graph::Graph& graph) {
  const Routes routes(plan, graph, schedule.rules.traits.replicas);
  Lowering lowering(schedule, routes);
  std::vector<Program> programs;
  for (std::size_t p = 0; p < lowering.programs(); ++p) {
    programs.push_back({lowering.worker(p), {}});
    for (; const Op* op = lowering.peek(p); lowering.pop(p)) programs[p].ops.push_back(*op);
  }
  return programs;
}

}  // namespace pipedream::schedule
