#include "schedule/validate.h"

#include <map>
#include <optional>

#include "core/match.h"

namespace pipedream::schedule {
namespace {

// The life of one stage's weights and items on one worker, op by op.
class StageCheck {
 public:
  std::optional<std::string> run(const Forward& f) {
    if (items_.contains(f.item)) return "this item's forward ran before";
    items_[f.item] = {f.weights, State::kForward};
    if (!exists(f.weights)) return "weight version " + number(f.weights) + " does not exist here";
    ++users_[f.weights];
    return std::nullopt;
  }

  std::optional<std::string> run(const Backward& b) {
    const auto item = items_.find(b.item);
    if (item == items_.end() || item->second.state != State::kForward)
      return "there is no forward of this item waiting for its backward";
    const WeightVersion used = item->second.weights;
    item->second.state = State::kBackward;
    if (const auto users = users_.find(used); users != users_.end() && --users->second == 0)
      users_.erase(users);
    if (used != b.weights)
      return "its forward used weight version " + number(used) + ", not " + number(b.weights);
    return std::nullopt;
  }

  std::optional<std::string> run(const Update& u) {
    const WeightVersion newest = newest_;
    newest_ = u.to;
    const auto problem = apply(u.first, u.last);
    if (u.from != newest) return "the newest weight version is " + number(newest);
    if (u.to.value != u.from.value + 1) return "an update must give the next version";
    return problem;
  }

  // What is left open at the end of the program.
  [[nodiscard]] std::vector<std::string> missing(StageId stage) const {
    std::vector<std::string> found;
    for (const auto& [item, life] : items_) {
      if (life.state == State::kForward)
        found.push_back(to_text(Forward{stage, item, life.weights}, true) + " has no backward");
      if (life.state == State::kBackward)
        found.push_back(to_text(Backward{stage, item, life.weights}, true) + " has no update");
    }
    return found;
  }

 private:
  enum class State { kForward, kBackward, kApplied };  // the last thing that happened to an item
  struct Life {
    WeightVersion weights;  // of its forward
    State state;
  };

  static std::string number(WeightVersion v) { return std::to_string(v.value); }
  // Older versions live only as long as somebody who began on them has not run backward.
  [[nodiscard]] bool exists(WeightVersion v) const { return v == newest_ || users_.contains(v); }

  // Uses up the gradients of all items of these minibatches.
  std::optional<std::string> apply(std::int64_t first, std::int64_t last) {
    std::optional<std::string> problem;
    const auto note = [&](std::int64_t minibatch, const char* what) {
      if (!problem) problem = "minibatch " + std::to_string(minibatch) + what;
    };
    std::int64_t next = first;  // the minibatches before it were found
    for (auto it = items_.lower_bound({first, 0});
         it != items_.end() && it->first.minibatch <= last; ++it) {
      const std::int64_t minibatch = it->first.minibatch;
      if (minibatch > next) note(next, " has not run backward");
      next = minibatch + 1;
      State& state = it->second.state;
      if (state == State::kForward) note(minibatch, " has not run backward");
      if (state == State::kApplied) note(minibatch, " was applied before");
      if (state == State::kBackward) state = State::kApplied;
    }
    if (next <= last) note(next, " has not run backward");
    return problem;
  }

  WeightVersion newest_{0};
  std::map<WeightVersion, int> users_;
  std::map<Item, Life> items_;
};

void check_weights(const Program& program, std::vector<Violation>& violations) {
  std::map<StageId, StageCheck> stages;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    const auto problem = std::visit(Match{[&](const Forward& f) { return stages[f.stage].run(f); },
                                          [&](const Backward& b) { return stages[b.stage].run(b); },
                                          [&](const Update& u) { return stages[u.stage].run(u); },
                                          [](const Load&) { return std::optional<std::string>(); },
                                          [](const Send&) { return std::optional<std::string>(); },
                                          [](const Recv&) { return std::optional<std::string>(); }},
                                    op);
    if (problem) violations.push_back({program.worker, i, to_text(op, true) + ": " + *problem});
  }
  for (const auto& [stage, check] : stages)
    for (const std::string& what : check.missing(stage))
      violations.push_back({program.worker, program.ops.size(), what});
}

// Whether `send`, the next op of `from`, is what `recv`, the next op of `to`, waits for.
bool meet(const Send& send, WorkerId from, const Recv& recv, WorkerId to) {
  return send.peer == to && recv.peer == from && send.value == recv.value &&
         send.item == recv.item && send.kind == recv.kind;
}

// Runs the programs with sends that block until they are received; what is stuck at the end waits
// for ever. A program that moves may free the one it met, so both go back on the list.
class Rendezvous {
 public:
  explicit Rendezvous(std::span<const Program> programs)
      : programs_(programs), next_(programs.size()) {
    for (std::size_t p = 0; p < programs.size(); ++p) by_worker_[programs[p].worker] = p;
  }

  void run(std::vector<Violation>& violations) {
    std::vector<std::size_t> active;
    for (std::size_t p = programs_.size(); p-- > 0;) active.push_back(p);
    while (!active.empty()) {
      const std::size_t p = active.back();
      active.pop_back();
      while (advance(p, active)) continue;
    }
    for (std::size_t p = 0; p < programs_.size(); ++p)
      if (const Op* op = head(p))
        violations.push_back(
            {programs_[p].worker, next_[p], to_text(*op, true) + " waits for ever"});
  }

 private:
  [[nodiscard]] const Op* head(std::size_t p) const {
    return next_[p] < programs_[p].ops.size() ? &programs_[p].ops[next_[p]] : nullptr;
  }

  // Moves program p by one op if it can, and its partner with it.
  bool advance(std::size_t p, std::vector<std::size_t>& active) {
    const Op* op = head(p);
    if (op == nullptr) return false;
    const auto* send = std::get_if<Send>(op);
    const auto* recv = std::get_if<Recv>(op);
    if (send != nullptr || recv != nullptr) {
      const auto partner = by_worker_.find(send != nullptr ? send->peer : recv->peer);
      if (partner == by_worker_.end()) return false;
      const Op* theirs = head(partner->second);
      if (theirs == nullptr) return false;
      const WorkerId mine = programs_[p].worker;
      const auto* other_send = std::get_if<Send>(theirs);
      const auto* other_recv = std::get_if<Recv>(theirs);
      const bool met =
          send != nullptr ? other_recv != nullptr && meet(*send, mine, *other_recv, partner->first)
                          : other_send != nullptr && meet(*other_send, partner->first, *recv, mine);
      if (!met) return false;
      ++next_[partner->second];
      active.push_back(partner->second);
    }
    ++next_[p];
    return true;
  }

  std::span<const Program> programs_;
  std::vector<std::size_t> next_;
  std::map<WorkerId, std::size_t> by_worker_;
};

}  // namespace

std::vector<Violation> validate(std::span<const Program> programs) {
  std::vector<Violation> violations;
  for (const Program& program : programs) check_weights(program, violations);
  Rendezvous(programs).run(violations);
  return violations;
}

}  // namespace pipedream::schedule
