// Runs complete programs in the simplest way: op by op, with sends that block, and with every value
// and every item's history kept to the end. Shares no code with the validator, whose rules
// (schedule/validate.h) it is there to confirm. Only tests include this.
#pragma once

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/match.h"
#include "graph/graph.h"
#include "plan/plan.h"
#include "schedule/ops.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

class NaiveInterpreter {
 public:
  NaiveInterpreter(const std::vector<Program>& programs, const Rules& rules, const plan::Plan& plan,
                   const graph::Graph& graph)
      : programs_(programs), rules_(rules), plan_(plan), next_(programs.size()) {
    std::map<LayerId, StageId> home;
    for (std::size_t s = 0; s < plan.stages.size(); ++s)
      for (const LayerId layer : plan.stages[s].layers) home[layer] = id_at<StageId>(s);
    for (const auto& [layer, user] : home)
      for (const ValueId value : graph.layer(layer).inputs) {
        const LayerId producer = graph.value(value).producer;
        if (graph.layer(producer).is_input)
          loading_.insert(user);
        else if (home.at(producer) != user)
          edges_.insert({value, home.at(producer), user});
      }
  }

  // Runs all programs as far as they go. Returns the first problem, or an empty string if all ran
  // to their ends without one.
  [[nodiscard]] std::string problem() {
    try {
      for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t p = 0; p < programs_.size(); ++p)
          while (head(p) != nullptr && step(p)) moved = true;
      }
      for (std::size_t p = 0; p < programs_.size(); ++p) {
        worker_ = programs_[p].worker;
        op_ = head(p);
        demand(op_ == nullptr, "waits for ever");
      }
      look_at_the_end();
    } catch (const Wrong& wrong) {
      return wrong.what();
    }
    return {};
  }

 private:
  struct Wrong : std::runtime_error {
    using runtime_error::runtime_error;
  };
  void demand(bool rule, const char* what) const {
    if (rule) return;
    throw Wrong(op_ == nullptr ? what
                               : "worker " + std::to_string(worker_.value) + " at " +
                                     to_text(*op_, true) + ": " + what);
  }

  struct Edge {  // a value that one stage makes and another uses
    ValueId value;
    StageId from;
    StageId to;
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };
  // A value, or its gradient, on its way from worker to worker. The last two entries are the sender
  // and the receiver.
  using Parcel = std::tuple<ValueId, StageId, Item, Kind, WorkerId, WorkerId>;

  // An item of a stage on one worker.
  struct Life {
    std::string history;  // the letters of the ops that ran, as in the text form of ops
    WeightVersion weights{-1};
    WeightVersion averaged{-1};
  };
  struct Copy {  // a stage on one worker
    WeightVersion newest{0};
    std::map<Item, Life> items;
    std::int64_t applied = -1;
    std::set<WeightVersion> reduced;
    std::set<WeightVersion> awaited;
    std::int64_t pushes = 0;
  };

  [[nodiscard]] const Op* head(std::size_t p) const {
    return next_[p] < programs_[p].ops.size() ? &programs_[p].ops[next_[p]] : nullptr;
  }

  bool step(std::size_t p) {
    const WorkerId worker = programs_[p].worker;
    const Op& op = *head(p);
    worker_ = worker;
    op_ = &op;
    if (std::holds_alternative<Recv>(op)) return false;  // its Send moves both programs on
    if (const auto* send = std::get_if<Send>(&op)) {
      for (std::size_t q = 0; q < programs_.size(); ++q) {
        if (head(q) == nullptr || programs_[q].worker != send->peer) continue;
        if (*head(q) != Op(Recv{send->value, send->user, send->item, send->kind, worker})) continue;
        const Parcel parcel{send->value, send->user, send->item, send->kind, worker, send->peer};
        demand(made_.erase(parcel) == 1, "there is no such thing to send");
        demand(arrived_.insert(parcel).second, "sent twice");
        ++next_[p];
        ++next_[q];
        return true;
      }
      return false;
    }
    if (const auto* await = std::get_if<Await>(&op)) {
      Copy& copy = copy_of(worker, await->stage);
      for (const WorkerId member : plan_.stage(await->stage).workers)
        if (!copy_of(member, await->stage).reduced.contains(await->update)) return false;
      demand(copy.awaited.insert(await->update).second, "awaited twice");
      demand(*copy.awaited.rbegin() == await->update, "awaited out of order");
    }
    std::visit(Match{[](const Send&) {}, [](const Recv&) {}, [](const Await&) {},
                     [&](const auto& other) { run(worker, copy_of(worker, other.stage), other); }},
               op);
    ++next_[p];
    return true;
  }

  [[nodiscard]] int replica_of(WorkerId worker, StageId stage) const {
    demand(stage.value >= 0 && stage.index() < plan_.stages.size(), "no such stage");
    const auto& workers = plan_.stages[stage.index()].workers;
    for (std::size_t i = 0; i < workers.size(); ++i)
      if (workers[i] == worker) return static_cast<int>(i);
    demand(false, "not a stage of this worker");
    return -1;
  }
  Copy& copy_of(WorkerId worker, StageId stage) {
    (void)replica_of(worker, stage);
    return copies_[{worker, stage}];
  }
  [[nodiscard]] int replicas(StageId stage) const {
    return static_cast<int>(plan_.stages[stage.index()].workers.size());
  }
  [[nodiscard]] bool takes_part(WorkerId worker, StageId stage, std::int64_t minibatch) const {
    return rules_.traits.replicas == Replicas::kShareItems ||
           minibatch % replicas(stage) == replica_of(worker, stage);
  }

  // Returns the workers of stage `there` that have samples of the item in common with `worker`,
  // which runs stage `here`.
  [[nodiscard]] std::vector<WorkerId> partners(WorkerId worker, StageId here, StageId there,
                                               Item item) const {
    std::vector<WorkerId> found;
    for (const WorkerId other : plan_.stages[there.index()].workers) {
      if (rules_.traits.replicas != Replicas::kShareItems) {
        if (takes_part(other, there, item.minibatch)) found.push_back(other);
        continue;
      }
      // Worker i of n has the samples between i/n and (i+1)/n.
      const int i = replica_of(worker, here);
      const int j = replica_of(other, there);
      if (i * replicas(there) < (j + 1) * replicas(here) &&
          j * replicas(here) < (i + 1) * replicas(there))
        found.push_back(other);
    }
    return found;
  }

  void take(WorkerId worker, StageId stage, Item item, Kind kind) {
    for (const Edge& edge : edges_) {
      if ((kind == Kind::kActivation ? edge.to : edge.from) != stage) continue;
      const StageId other = kind == Kind::kActivation ? edge.from : edge.to;
      for (const WorkerId maker : partners(worker, stage, other, item))
        demand(arrived_.erase({edge.value, edge.to, item, kind, maker, worker}) == 1,
               "has not got all it takes");
    }
  }
  void make(WorkerId worker, StageId stage, Item item, Kind kind) {
    for (const Edge& edge : edges_) {
      if ((kind == Kind::kActivation ? edge.from : edge.to) != stage) continue;
      const StageId other = kind == Kind::kActivation ? edge.to : edge.from;
      for (const WorkerId taker : partners(worker, stage, other, item))
        (taker == worker ? arrived_ : made_)
            .insert({edge.value, edge.to, item, kind, worker, taker});
    }
  }

  [[nodiscard]] static bool in_flight(const Life& life) {
    return life.history.find('F') != std::string::npos &&
           life.history.find_first_of("Bw") == std::string::npos;
  }
  // Returns whether the item's gradients are accumulated, and not averaged, applied or pushed yet.
  [[nodiscard]] static bool gathered(const Life& life) {
    return life.history.find_first_of("Bw") != std::string::npos &&
           life.history.find_first_of("XUP") == std::string::npos;
  }
  void demand_version(const Copy& copy, WeightVersion version) const {
    const auto newest = copy.newest.value;
    if (!rules_.stashes()) return demand(version == copy.newest, "not the newest weights");
    if (version.value >= 0 && version.value <= newest && version.value > newest - rules_.kept())
      return;
    for (const auto& [item, life] : copy.items)
      if (in_flight(life) && life.weights == version) return;
    demand(false, "no such weights");
  }
  Life& life_of(WorkerId worker, Copy& copy, StageId stage, Item item) {
    demand(item.minibatch >= 0 && item.microbatch >= 0 && takes_part(worker, stage, item.minibatch),
           "not an item of this worker");
    return copy.items[item];
  }

  void run(WorkerId worker, Copy& copy, const Load& load) {
    life_of(worker, copy, load.stage, load.item).history += 'L';
  }
  void run(WorkerId worker, Copy& copy, const Forward& forward) {
    demand_version(copy, forward.weights);
    Life& life = life_of(worker, copy, forward.stage, forward.item);
    take(worker, forward.stage, forward.item, Kind::kActivation);
    make(worker, forward.stage, forward.item, Kind::kActivation);
    life.history += 'F';
    life.weights = forward.weights;
    std::size_t count = 0;
    for (const auto& [item, other] : copy.items) count += in_flight(other) ? 1 : 0;
    if (!rules_.in_flight.empty())
      demand(count <= static_cast<std::size_t>(rules_.in_flight[forward.stage.index()]),
             "too many in flight");
  }
  void run(WorkerId worker, Copy& copy, const Recompute& recompute) {
    Life& life = life_of(worker, copy, recompute.stage, recompute.item);
    demand_version(copy, recompute.weights);
    const std::set<Parcel> there = arrived_;  // take() checks, and the gradients stay
    take(worker, recompute.stage, recompute.item, Kind::kGradient);
    arrived_ = there;
    demand(!rules_.stashes() || life.weights == recompute.weights,
           "other weights than its forward");
    life.history += 'C';
  }
  void run(WorkerId worker, Copy& copy, const Backward& backward) {
    Life& life = life_of(worker, copy, backward.stage, backward.item);
    demand_version(copy, backward.weights);
    demand(!rules_.stashes() || life.weights == backward.weights, "other weights than its forward");
    if (backward.part != BackwardPart::kWeight) {
      take(worker, backward.stage, backward.item, Kind::kGradient);
      make(worker, backward.stage, backward.item, Kind::kGradient);
    }
    life.history += backward.part == BackwardPart::kFull    ? "B"
                    : backward.part == BackwardPart::kInput ? "b"
                                                            : "w";
  }
  // Averages all gradients that were accumulated since the last averaging.
  void run(WorkerId, Copy& copy, const Reduce& reduce) {
    demand(!rules_.traits.asynchronous && replicas(reduce.stage) > 1, "nobody averages here");
    demand(copy.reduced.insert(reduce.update).second, "averaged twice");
    demand(*copy.reduced.rbegin() == reduce.update, "averaged out of order");
    for (auto& [item, life] : copy.items) {
      if (!gathered(life)) continue;
      life.history += 'X';
      life.averaged = reduce.update;
    }
  }
  void run(WorkerId worker, Copy& copy, const Update& update) {
    demand(!rules_.traits.asynchronous, "the servers update");
    demand(update.from == copy.newest && update.to.value == copy.newest.value + 1,
           "not the next version");
    demand(update.first == copy.applied + 1 && update.last >= update.first,
           "not the next minibatches");
    for (auto minibatch = update.first; minibatch <= update.last; ++minibatch)
      demand(!takes_part(worker, update.stage, minibatch) ||
                 (copy.items.lower_bound({minibatch, 0}) != copy.items.end() &&
                  copy.items.lower_bound({minibatch, 0})->first.minibatch == minibatch),
             "a minibatch that never ran");
    const bool averages = replicas(update.stage) > 1;
    demand(!averages || copy.awaited.contains(update.to), "not averaged yet");
    for (auto& [item, life] : copy.items) {
      const bool applies = update.first <= item.minibatch && item.minibatch <= update.last;
      if (averages)
        demand(applies == (life.averaged == update.to), "averaged for another update");
      else  // an update uses up all accumulated gradients
        demand(applies || !gathered(life), "would apply another minibatch as well");
      if (applies) life.history += 'U';
    }
    copy.newest = update.to;
    copy.applied = update.last;
  }
  void run(WorkerId worker, Copy& copy, const Push& push) {
    demand(rules_.traits.asynchronous, "there are no servers");
    demand(copy.pushes++ == copy.newest.value, "nothing was fetched since the last push");
    life_of(worker, copy, push.stage, push.item).history += 'P';
    for (const auto& [item, life] : copy.items)
      demand(!gathered(life), "would push another minibatch as well");
  }
  void run(WorkerId, Copy& copy, const Pull& pull) {
    demand(rules_.traits.asynchronous, "there are no servers");
    demand(pull.to.value == copy.newest.value + 1, "not the next version");
    demand(copy.pushes == pull.to.value, "nothing was pushed");
    copy.newest = pull.to;
  }

  void look_at_the_end() const {
    demand(made_.empty(), "something was not sent");
    demand(arrived_.empty(), "something was not used");
    for (const auto& [key, copy] : copies_) {
      const StageId stage = key.second;
      const bool averages = !rules_.traits.asynchronous && replicas(stage) > 1;
      std::string wanted = loading_.contains(stage) ? "LF" : "F";
      if (plan_.stages[stage.index()].recompute) wanted += 'C';
      std::string rest = averages ? "X" : "";
      rest += rules_.traits.asynchronous ? "P" : "U";
      const std::string whole = wanted + "B" + rest;
      const std::string parts = wanted + "bw" + rest;
      for (const auto& [item, life] : copy.items)
        if (life.history != whole && life.history != parts)
          throw Wrong("the life of an item was " + life.history);
      demand(copy.awaited == copy.reduced, "an averaging nobody waited for");
      demand(!averages || static_cast<std::int64_t>(copy.reduced.size()) == copy.newest.value,
             "averaged for no update");
      demand(!rules_.traits.asynchronous || copy.pushes == copy.newest.value,
             "pushed and not fetched");
    }
  }

  const std::vector<Program>& programs_;
  const Rules& rules_;
  const plan::Plan& plan_;
  std::set<Edge> edges_;
  std::set<StageId> loading_;
  std::vector<std::size_t> next_;
  std::set<Parcel> made_;     // made and not sent yet
  std::set<Parcel> arrived_;  // arrived and not used yet
  std::map<std::pair<WorkerId, StageId>, Copy> copies_;
  WorkerId worker_;         // the worker whose op runs now, for messages
  const Op* op_ = nullptr;  // the op that runs now, for messages
};

// Returns why these programs cannot run, or an empty string if they can.
[[nodiscard]] inline std::string why_not_runnable(const std::vector<Program>& programs,
                                                  const Rules& rules, const plan::Plan& plan,
                                                  const graph::Graph& graph) {
  return NaiveInterpreter(programs, rules, plan, graph).problem();
}

}  // namespace pipedream::schedule
