#include "schedule/lower.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/match.h"
#include "graph/cut.h"

namespace pipedream::schedule {
namespace {

using graph::Transfer;

// What another op may wait for: that a stage has run an item forward, or backward.
struct Done {
  StageId stage;
  Item item;
  Kind kind;  // kActivation: forward; kGradient: backward
  friend auto operator<=>(const Done&, const Done&) = default;
};

class Lowering {
 public:
  Lowering(const std::vector<Program>& programs, const plan::Plan& plan, const graph::Graph& graph)
      : programs_(programs), plan_(plan), next_(programs.size()) {
    const auto stage_of = plan::stage_of_each_layer(plan, graph);
    transfers_ = graph::transfers_between(graph, stage_of);
    for (const graph::Value& value : graph.values())
      if (graph.layer(value.producer).is_input)
        for (const LayerId user : value.consumers) loading_.insert(stage_of[user.index()]);
    for (std::size_t p = 0; p < programs.size(); ++p) {
      lowered_.push_back({programs[p].worker, {}});
      if (!by_worker_.emplace(programs[p].worker, p).second)
        throw BadValue("worker " + std::to_string(programs[p].worker.value) + " has two programs");
      ready_.push({0, p});
    }
  }

  // Runs the programs in steps, as if every op took one; programs that must wait are woken by the
  // op they wait for.
  std::vector<Program> run() {
    while (!ready_.empty()) {
      const auto [step, p] = ready_.top();
      ready_.pop();
      if (next_[p] == programs_[p].ops.size()) continue;
      const Op& op = programs_[p].ops[next_[p]];
      check_worker(op, programs_[p].worker);
      if (const auto missing = first_missing(op)) {
        waiting_[*missing].push_back(p);
        continue;
      }
      ++next_[p];
      place(op, p);
      ready_.push({step + 1, p});
      if (const auto made = done_by(op)) {
        done_.insert(*made);
        for (const std::size_t woken : waiting_[*made]) ready_.push({step + 1, woken});
        waiting_.erase(*made);
      }
    }
    refuse_unfinished();
    return std::move(lowered_);
  }

 private:
  static std::optional<Done> done_by(const Op& op) {
    if (const auto* f = std::get_if<Forward>(&op))
      return Done{f->stage, f->item, Kind::kActivation};
    if (const auto* b = std::get_if<Backward>(&op)) return Done{b->stage, b->item, Kind::kGradient};
    return std::nullopt;
  }

  void check_worker(const Op& op, WorkerId worker) const {
    const auto made = done_by(op);
    if (!made) return;
    const std::string text =
        "worker " + std::to_string(worker.value) + " runs " + to_text(op, true) + ", but the plan ";
    if (made->stage.index() >= plan_.stages.size())
      throw BadValue(text + "has only " + std::to_string(plan_.stages.size()) + " stages");
    const WorkerId wanted = plan::worker_of(plan_, made->stage, made->item.minibatch);
    if (wanted != worker)
      throw BadValue(text + "gives that to worker " + std::to_string(wanted.value));
  }

  // Of the ops on other stages whose values this one takes, the first that has not run.
  std::optional<Done> first_missing(const Op& op) const {
    const auto taking = done_by(op);
    if (!taking) return std::nullopt;
    const bool forward = taking->kind == Kind::kActivation;
    for (const Transfer& t : transfers_) {
      if ((forward ? t.to : t.from) != taking->stage) continue;
      const Done needed{forward ? t.from : t.to, taking->item, taking->kind};
      if (!done_.contains(needed)) return needed;
    }
    return std::nullopt;
  }

  void place(const Op& op, std::size_t p) {
    if (const auto* f = std::get_if<Forward>(&op); f != nullptr && loading_.contains(f->stage))
      lowered_[p].ops.push_back(Load{f->stage, f->item});
    lowered_[p].ops.push_back(op);
    const auto made = done_by(op);
    if (!made) return;
    const bool forward = made->kind == Kind::kActivation;
    for (const Transfer& t : transfers_) {
      if ((forward ? t.from : t.to) != made->stage) continue;
      const WorkerId peer = plan::worker_of(plan_, forward ? t.to : t.from, made->item.minibatch);
      if (peer == lowered_[p].worker) continue;  // two stages of one worker hand over directly
      lowered_[p].ops.push_back(Send{t.value, made->item, made->kind, peer});
      const auto receiver = by_worker_.find(peer);
      if (receiver == by_worker_.end())
        throw BadValue("worker " + std::to_string(peer.value) + ", which must take what " +
                       to_text(op, true) + " makes, has no program");
      lowered_[receiver->second].ops.push_back(
          Recv{t.value, made->item, made->kind, lowered_[p].worker});
    }
  }

  void refuse_unfinished() const {
    for (std::size_t p = 0; p < programs_.size(); ++p) {
      if (next_[p] == programs_[p].ops.size()) continue;
      throw BadValue("worker " + std::to_string(programs_[p].worker.value) +
                     " would wait for ever at " + to_text(programs_[p].ops[next_[p]], true) +
                     " (op " + std::to_string(next_[p]) + ")");
    }
  }

  const std::vector<Program>& programs_;
  const plan::Plan& plan_;
  std::vector<Transfer> transfers_;
  std::set<StageId> loading_;  // stages that use values of the data set
  std::vector<Program> lowered_;
  std::map<WorkerId, std::size_t> by_worker_;
  std::vector<std::size_t> next_;  // per program, its first op that is not placed
  std::set<Done> done_;
  std::map<Done, std::vector<std::size_t>> waiting_;
  using Turn = std::pair<std::int64_t, std::size_t>;  // step, program
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> ready_;
};

}  // namespace

std::vector<Program> lower(const std::vector<Program>& programs, const plan::Plan& plan,
                           const graph::Graph& graph) {
  return Lowering(programs, plan, graph).run();
}

}  // namespace pipedream::schedule
