#include "schedule/stage_check.h"

#include <algorithm>

namespace pipedream::schedule {
namespace {

std::string number(WeightVersion version) { return std::to_string(version.value); }

std::string item_text(Item item) {
  std::string text = "minibatch " + std::to_string(item.minibatch);
  if (item.microbatch > 0) text += ", microbatch " + std::to_string(item.microbatch);
  return text;
}

}  // namespace

bool StageCheck::exists(WeightVersion version) const {
  const bool kept = version.value >= 0 && version.value <= newest_.value &&
                    version.value > newest_.value - rules_.kept();
  return kept || users_.contains(version);
}

void StageCheck::use(WeightVersion version, int by) {
  if (!rules_.stashes()) return;
  if ((users_[version] += by) <= 0) users_.erase(version);
}

void StageCheck::check_part(Item item, Problems& problems) const {
  if (!routes_.has_part(stage_, replica_, item.minibatch))
    problems.push_back("another replica's turn");
}

void StageCheck::take(Item item, Kind kind, bool keep, Shelf& shelf, Problems& problems) const {
  for (const std::size_t t : routes_.taken(stage_, kind)) {
    const graph::Transfer& transfer = routes_.transfers()[t];
    const StageId maker = Routes::maker(transfer, kind);
    routes_.for_each_peer(stage_, replica_, maker, item.minibatch, [&](int peer, double) {
      const Handed wanted{transfer.value, transfer.to, item, kind, routes_.worker(maker, peer)};
      const auto found = shelf.received.find(wanted);
      if (found == shelf.received.end())
        problems.push_back(
            std::string(kind == Kind::kActivation ? "value " : "the gradient of value ") +
            std::to_string(transfer.value.value) + " is not there");
      else if (!keep)
        shelf.received.erase(found);
    });
  }
}

void StageCheck::make(Item item, Kind kind, Shelf& shelf) const {
  for (const std::size_t t : routes_.made(stage_, kind)) {
    const graph::Transfer& transfer = routes_.transfers()[t];
    const StageId taker = Routes::taker(transfer, kind);
    routes_.for_each_peer(stage_, replica_, taker, item.minibatch, [&](int peer, double) {
      const WorkerId to = routes_.worker(taker, peer);
      const Handed made{transfer.value, transfer.to, item, kind, to};
      (to == worker_ ? shelf.received : shelf.unsent).insert(made);
    });
  }
}

void StageCheck::run(const Load& load, Shelf&, Problems& problems) {
  if (!routes_.loads(stage_)) problems.push_back("the stage uses no data");
  check_part(load.item, problems);
  if (!loaded_.insert(load.item).second) problems.push_back("loaded twice");
}

void StageCheck::run(const Forward& forward, Shelf& shelf, Problems& problems) {
  check_part(forward.item, problems);
  if (routes_.loads(stage_) && loaded_.erase(forward.item) == 0)
    problems.push_back("its data was not loaded");
  take(forward.item, Kind::kActivation, false, shelf, problems);
  if (!exists(forward.weights))
    problems.push_back("version " + number(forward.weights) + " does not exist here");
  if (!rules_.trains) {
    make(forward.item, Kind::kActivation, shelf);
    return;
  }
  if (pull_due_) problems.push_back("the weights were not fetched after the last push");
  if (forward.item.minibatch <= applied_)
    problems.push_back(std::string(rules_.traits.asynchronous ? "a push" : "an update") +
                       " has applied that minibatch before");
  if (!items_.emplace(forward.item, Life{forward.weights, State::kForward}).second)
    problems.push_back("the item has run forward before");
  use(forward.weights, 1);
  ++in_flight_;
  if (!rules_.in_flight.empty() && in_flight_ > rules_.in_flight[stage_.index()])
    problems.push_back(std::to_string(in_flight_) + " items in flight, at most " +
                       std::to_string(rules_.in_flight[stage_.index()]) + " are allowed");
  make(forward.item, Kind::kActivation, shelf);
}

StageCheck::Life* StageCheck::living(Item item, Problems& problems) {
  const auto found = items_.find(item);
  if (found != items_.end()) return &found->second;
  problems.push_back("the item has not run forward");
  return nullptr;
}

void StageCheck::run(const Recompute& recompute, Shelf& shelf, Problems& problems) {
  if (!routes_.plan().stage(stage_).recompute)
    problems.push_back("the stage keeps its activations: nothing is to be run again");
  take(recompute.item, Kind::kGradient, true, shelf, problems);
  Life* life = living(recompute.item, problems);
  if (life == nullptr) return;
  if (life->state != State::kForward) problems.push_back("the item does not await its backward");
  if (rules_.stashes() && life->weights != recompute.weights)
    problems.push_back("its forward used version " + number(life->weights));
  if (!rules_.stashes() && recompute.weights != newest_)
    problems.push_back("the newest version is " + number(newest_));
  if (life->state == State::kForward) life->state = State::kRecomputed;
}

void StageCheck::run(const Backward& backward, Shelf& shelf, Problems& problems) {
  const bool second = backward.part == BackwardPart::kWeight;
  if (!second) take(backward.item, Kind::kGradient, false, shelf, problems);
  Life* life = living(backward.item, problems);
  if (life == nullptr) return;
  const State ready = second                                   ? State::kInput
                      : routes_.plan().stage(stage_).recompute ? State::kRecomputed
                                                               : State::kForward;
  if (life->state != ready) {
    if (life->state >= State::kBackward)
      problems.push_back("the item has run backward before");
    else if (ready == State::kRecomputed && life->state == State::kForward)
      problems.push_back("the stage keeps no activations: its forward must be run again first");
    else
      problems.push_back("the parts of a backward are input, then weight, once each");
  }
  if (rules_.stashes() && life->weights != backward.weights)
    problems.push_back("its forward used version " + number(life->weights));
  if (!rules_.stashes() && backward.weights != newest_)
    problems.push_back("the newest version is " + number(newest_));
  if (!second) make(backward.item, Kind::kGradient, shelf);
  if (life->state >= State::kBackward) return;
  if (backward.part == BackwardPart::kInput) {
    life->state = State::kInput;
    return;
  }
  use(life->weights, -1);
  --in_flight_;
  life->state = State::kBackward;
}

void StageCheck::run(const Reduce& reduce, Shelf&, Problems& problems) {
  if (routes_.replicas(stage_) < 2) problems.push_back("the stage has no replicas");
  if (rules_.traits.asynchronous) problems.push_back("asynchronous replicas do not average");
  if (reduce.update.value != reduced_.value + 1)
    problems.push_back("the next update to average for is " + std::to_string(reduced_.value + 1));
  reduced_ = reduce.update;
  for (auto& [item, life] : items_)
    if (life.state == State::kBackward) {
      life.state = State::kReduced;
      life.update = reduce.update;
    }
}

void StageCheck::run(const Await& await, Shelf&, Problems& problems) {
  if (await.update > reduced_) problems.push_back("its averaging has not begun");
  if (await.update.value != awaited_.value + 1)
    problems.push_back("the next to wait for is " + std::to_string(awaited_.value + 1));
  awaited_ = await.update;
}

void StageCheck::run(const Push& push, Shelf&, Problems& problems) {
  if (!rules_.traits.asynchronous) problems.push_back("there are no servers to push to");
  if (routes_.plan().stages.size() > 1)
    problems.push_back("servers hold whole models only, and the plan has several stages");
  Life* life = living(push.item, problems);
  if (life != nullptr && life->state != State::kBackward)
    problems.push_back("the item has not run backward");
  if (pull_due_) problems.push_back("the weights were not fetched after the last push");
  if (push.item.minibatch <= applied_) problems.push_back("that minibatch was pushed before");
  applied_ = std::max(applied_, push.item.minibatch);
  items_.erase(push.item);
  for (const auto& [item, other] : items_)
    if (other.state == State::kBackward) {
      problems.push_back(item_text(item) + " has run backward already and would be pushed too");
      break;
    }
  pull_due_ = true;
}

void StageCheck::run(const Pull& pull, Shelf&, Problems& problems) {
  if (!rules_.traits.asynchronous) problems.push_back("there are no servers to fetch from");
  if (!pull_due_) problems.push_back("nothing was pushed before");
  if (pull.to.value != newest_.value + 1)
    problems.push_back("the next version is " + std::to_string(newest_.value + 1));
  pull_due_ = false;
  newest_ = pull.to;
}

void StageCheck::run(const Update& update, Shelf&, Problems& problems) {
  if (rules_.traits.asynchronous) problems.push_back("the servers update, not the workers");
  if (update.from != newest_) problems.push_back("the newest version is " + number(newest_));
  if (update.to.value != update.from.value + 1)
    problems.push_back("an update gives the next version");
  if (routes_.replicas(stage_) > 1 && !rules_.traits.asynchronous && awaited_ < update.to)
    problems.push_back("the averaging for it was not waited for");
  if (update.first != applied_ + 1 || update.last < update.first)
    problems.push_back("minibatch " + std::to_string(applied_ + 1) + " is the next to apply");
  apply(update, problems);
  applied_ = std::max(applied_, update.last);
  newest_ = update.to;
}

// Removes the items of the minibatches that the update applies. Checks that their gradients are
// ready and that no gradients of other minibatches would be applied with them.
void StageCheck::apply(const Update& update, Problems& problems) {
  const bool averaged = routes_.replicas(stage_) > 1 && !rules_.traits.asynchronous;
  const auto begin = items_.lower_bound({update.first, 0});
  auto it = begin;
  std::int64_t seen = update.first - 1;
  const auto note_missing = [&](std::int64_t before) {
    for (std::int64_t m = std::max(seen + 1, update.first); m < before; ++m)
      if (routes_.has_part(stage_, replica_, m)) {
        problems.push_back("minibatch " + std::to_string(m) + " has not run backward");
        return;
      }
  };
  for (; it != items_.end() && it->first.minibatch <= update.last; ++it) {
    note_missing(it->first.minibatch);
    seen = it->first.minibatch;
    const Life& life = it->second;
    if (life.state < State::kBackward)
      problems.push_back(item_text(it->first) + " has not run backward");
    else if (averaged && (life.state != State::kReduced || life.update != update.to))
      problems.push_back(item_text(it->first) + " was not averaged for it");
  }
  note_missing(update.last + 1);
  items_.erase(begin, it);
  if (averaged) return;
  for (const auto& [item, life] : items_)
    if (life.state == State::kBackward) {
      problems.push_back(item_text(item) + " has run backward already and would be applied too");
      return;
    }
}

void StageCheck::end(Problems& problems) const {
  for (const auto& [item, life] : items_) {
    if (life.state < State::kBackward)
      problems.push_back(to_text(Forward{stage_, item, life.weights}, true) + " has no backward");
    else
      problems.push_back(to_text(Backward{stage_, item, life.weights}, true) + " has no " +
                         (rules_.traits.asynchronous ? "push" : "update"));
  }
  for (const Item& item : loaded_)
    problems.push_back(to_text(Load{stage_, item}, true) + " is of no use");
  if (reduced_ != awaited_)
    problems.push_back("averaging " + number(reduced_) + " of stage " +
                       std::to_string(stage_.value) + " is not waited for");
  if (awaited_ > newest_)
    problems.push_back("averaging " + number(awaited_) + " of stage " +
                       std::to_string(stage_.value) + " has no update");
  if (pull_due_) problems.push_back("the weights are not fetched after the last push");
}

}  // namespace pipedream::schedule
