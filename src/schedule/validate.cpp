#include "schedule/validate.h"

#include <map>

#include "core/match.h"
#include "schedule/stage_check.h"

namespace pipedream::schedule {
namespace {

// Checks one worker's program as far as that needs no other program.
class WorkerCheck {
 public:
  WorkerCheck(WorkerId worker, const Rules& rules, const Routes& routes)
      : worker_(worker), rules_(rules), routes_(routes) {}

  // Checks the next op of the program.
  void run(const Op& op, std::vector<Violation>& violations) {
    StageCheck::Problems problems;
    std::visit(Match{[&](const Send& s) { send(s, problems); },
                     [&](const Recv& r) {
                       shelf_.received.insert({r.value, r.user, r.item, r.kind, r.peer});
                     },
                     [&](const auto& other) {
                       if (StageCheck* check = stage(other.stage, problems))
                         check->run(other, shelf_, problems);
                     }},
               op);
    for (std::string& problem : problems)
      violations.push_back({worker_, position_, to_text(op, true) + ": " + std::move(problem)});
    ++position_;
  }

  void end(std::vector<Violation>& violations) const {
    StageCheck::Problems problems;
    for (const auto& [stage, check] : stages_) check.end(problems);
    for (const Handed& handed : shelf_.unsent)
      problems.push_back(text_of(handed) + " was not sent");
    for (const Handed& handed : shelf_.received)
      problems.push_back(text_of(handed) + " was not used");
    for (std::string& problem : problems)
      violations.push_back({worker_, position_, std::move(problem)});
  }

  [[nodiscard]] std::size_t position() const { return position_; }

 private:
  static std::string text_of(const Handed& handed) {
    return std::string(handed.kind == Kind::kActivation ? "value " : "the gradient of value ") +
           std::to_string(handed.value.value) + " of minibatch " +
           std::to_string(handed.item.minibatch);
  }

  StageCheck* stage(StageId id, StageCheck::Problems& problems) {
    const auto found = stages_.find(id);
    if (found != stages_.end()) return &found->second;
    std::optional<int> replica;
    if (id.value >= 0 && id.index() < routes_.plan().stages.size())
      replica = routes_.replica(id, worker_);
    if (!replica) {
      problems.emplace_back("the plan does not give that stage to this worker");
      return nullptr;
    }
    return &stages_.try_emplace(id, rules_, routes_, id, worker_, *replica).first->second;
  }

  void send(const Send& s, StageCheck::Problems& problems) {
    const auto found = shelf_.unsent.find({s.value, s.user, s.item, s.kind, s.peer});
    if (found == shelf_.unsent.end())
      problems.emplace_back("there is no such value to send");
    else
      shelf_.unsent.erase(found);
  }

  WorkerId worker_;
  const Rules& rules_;
  const Routes& routes_;
  std::map<StageId, StageCheck> stages_;
  Shelf shelf_;
  std::size_t position_ = 0;
};

// Returns whether `send`, the next op of worker `from`, is what `recv`, the next op of worker `to`,
// waits for.
bool meet(const Send& send, WorkerId from, const Recv& recv, WorkerId to) {
  return send.peer == to && recv.peer == from && send.value == recv.value &&
         send.user == recv.user && send.item == recv.item && send.kind == recv.kind;
}

// Replays the programs with sends that block until they are received. A program that is stuck at
// the end waits for ever. After a transfer, or when all replicas have joined an averaging, the
// programs that this may have freed go back to `active_`.
class Rendezvous {
 public:
  Rendezvous(OpSource& source, const Rules& rules, const Routes& routes)
      : source_(source), routes_(routes) {
    for (std::size_t p = 0; p < source.programs(); ++p) {
      if (!by_worker_.emplace(source.worker(p), p).second)
        violations_.push_back({source.worker(p), 0, "the worker has two programs"});
      checks_.emplace_back(source.worker(p), rules, routes);
    }
  }

  std::vector<Violation> run() {
    for (std::size_t p = source_.programs(); p-- > 0;) active_.push_back(p);
    while (!active_.empty()) {
      const std::size_t p = active_.back();
      active_.pop_back();
      while (advance(p)) continue;
    }
    for (std::size_t p = 0; p < source_.programs(); ++p) {
      if (const Op* op = source_.peek(p))
        violations_.push_back(
            {source_.worker(p), checks_[p].position(), to_text(*op, true) + " waits for ever"});
      while (source_.peek(p) != nullptr) pass(p);  // to find what else is wrong
      checks_[p].end(violations_);
    }
    return std::move(violations_);
  }

 private:
  void pass(std::size_t p) {
    const Op op = *source_.peek(p);
    if (const auto* update = std::get_if<Update>(&op)) compare(p, *update);
    checks_[p].run(op, violations_);
    source_.pop(p);
  }

  // Checks that all replicas of the stage apply the same minibatches in the update to one version.
  void compare(std::size_t p, const Update& update) {
    if (!is_stage(update.stage) || routes_.replicas(update.stage) < 2) return;
    const auto [found, is_first] =
        applied_.try_emplace({update.stage, update.to},
                             Applied{update.first, update.last, routes_.replicas(update.stage)});
    Applied& applied = found->second;
    if (!is_first && (applied.first != update.first || applied.last != update.last))
      violations_.push_back({source_.worker(p), checks_[p].position(),
                             to_text(update, true) + ": another replica applies minibatches " +
                                 std::to_string(applied.first) + " to " +
                                 std::to_string(applied.last)});
    if (--applied.left == 0) applied_.erase(found);
  }

  // Moves program `p` on by one op, and for a transfer its partner too. Returns false if `p` cannot
  // go on or has ended.
  bool advance(std::size_t p) {
    const Op* next = source_.peek(p);
    if (next == nullptr) return false;
    const Op op = *next;
    if (const auto* await = std::get_if<Await>(&op))
      if (!joined_by_all(*await)) return false;
    if (const auto* reduce = std::get_if<Reduce>(&op)) join(*reduce);
    const auto* send = std::get_if<Send>(&op);
    const auto* recv = std::get_if<Recv>(&op);
    if (send != nullptr || recv != nullptr) {
      const auto partner = by_worker_.find(send != nullptr ? send->peer : recv->peer);
      if (partner == by_worker_.end() || partner->second == p) return false;
      const Op* theirs = source_.peek(partner->second);
      if (theirs == nullptr) return false;
      const WorkerId mine = source_.worker(p);
      const auto* other_send = std::get_if<Send>(theirs);
      const auto* other_recv = std::get_if<Recv>(theirs);
      const bool met =
          send != nullptr ? other_recv != nullptr && meet(*send, mine, *other_recv, partner->first)
                          : other_send != nullptr && meet(*other_send, partner->first, *recv, mine);
      if (!met) return false;
      pass(partner->second);
      active_.push_back(partner->second);
    }
    pass(p);
    return true;
  }

  [[nodiscard]] bool is_stage(StageId stage) const {
    return stage.value >= 0 && stage.index() < routes_.plan().stages.size();
  }

  bool joined_by_all(const Await& await) {
    if (!is_stage(await.stage)) return false;
    const auto group = joined_.find({await.stage, await.update});
    if (group == joined_.end() || group->second.members < routes_.replicas(await.stage))
      return false;
    if (--group->second.left == 0) joined_.erase(group);
    return true;
  }

  void join(const Reduce& reduce) {
    if (!is_stage(reduce.stage)) return;
    const int all = routes_.replicas(reduce.stage);
    Group& group = joined_.try_emplace({reduce.stage, reduce.update}, Group{0, all}).first->second;
    if (++group.members != all) return;
    for (const WorkerId worker : routes_.plan().stage(reduce.stage).workers)
      if (const auto member = by_worker_.find(worker); member != by_worker_.end())
        active_.push_back(member->second);
  }

  // An averaging that replicas of a stage have begun.
  struct Group {
    int members;  // replicas that have begun it
    int left;     // replicas that have not passed its Await
  };
  // The minibatches that the first replica to update has applied.
  struct Applied {
    std::int64_t first;
    std::int64_t last;
    int left;  // replicas that have not updated yet
  };
  OpSource& source_;
  const Routes& routes_;
  std::map<std::pair<StageId, WeightVersion>, Applied> applied_;
  std::vector<WorkerCheck> checks_;
  std::map<WorkerId, std::size_t> by_worker_;
  std::map<std::pair<StageId, WeightVersion>, Group> joined_;
  std::vector<std::size_t> active_;  // programs that may be able to go on
  std::vector<Violation> violations_;
};

// Programs that are in memory as a whole.
class Listed final : public OpSource {
 public:
  explicit Listed(std::span<const Program> programs)
      : programs_(programs), next_(programs.size()) {}
  [[nodiscard]] std::size_t programs() const override { return programs_.size(); }
  [[nodiscard]] WorkerId worker(std::size_t p) const override { return programs_[p].worker; }
  [[nodiscard]] const Op* peek(std::size_t p, std::size_t ahead) override {
    const auto& ops = programs_[p].ops;
    return next_[p] + ahead < ops.size() ? &ops[next_[p] + ahead] : nullptr;
  }
  void pop(std::size_t p) override { ++next_[p]; }

 private:
  std::span<const Program> programs_;
  std::vector<std::size_t> next_;
};

}  // namespace

std::vector<Violation> validate(OpSource& programs, const Rules& rules, const Routes& routes) {
  return Rendezvous(programs, rules, routes).run();
}

std::vector<Violation> validate(std::span<const Program> programs, const Rules& rules,
                                const plan::Plan& plan, const graph::Graph& graph) {
  Listed listed(programs);
  return validate(listed, rules, Routes(plan, graph, rules.traits.replicas));
}

}  // namespace pipedream::schedule
