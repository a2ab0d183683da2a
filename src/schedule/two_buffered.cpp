#include "schedule/two_buffered.h"

#include <algorithm>

#include "core/check.h"
#include "schedule/depths.h"
#include "schedule/rounds.h"

namespace pipedream::schedule {
namespace {

// One replica's items in the order of its forwards, numbered from 0.
struct Items {
  Rounds rounds;
  std::int64_t replica;
  Extent extent;

  // Returns the number of rounds in which this replica has a minibatch.
  [[nodiscard]] std::int64_t own_rounds() const {
    const std::int64_t all = rounds.count();
    return rounds.has(all - 1, replica) ? all : all - 1;
  }
  [[nodiscard]] std::int64_t count() const {
    const std::int64_t own = own_rounds();
    if (own == 0) return 0;
    return (own - 1) * extent.microbatches +
           extent.microbatches_of(rounds.minibatch(own - 1, replica));
  }
  // Returns the number of updates in which this replica has a minibatch.
  [[nodiscard]] std::int64_t own_updates() const {
    const std::int64_t own = own_rounds();
    return own == 0 ? 0 : rounds.update_of(own - 1) + 1;
  }
  // Returns the number of items of a replica in an update that is not the last.
  [[nodiscard]] std::int64_t of_update() const { return extent.microbatches * rounds.accumulate; }
  // Returns the number of the update that applies the item's gradients.
  [[nodiscard]] std::int64_t update(std::int64_t index) const { return index / of_update(); }
  [[nodiscard]] Item at(std::int64_t index) const {
    return {rounds.minibatch(index / extent.microbatches, replica),
            static_cast<std::int32_t>(index % extent.microbatches)};
  }
  [[nodiscard]] bool ends_update(std::int64_t index) const {
    return (index + 1) % of_update() == 0 || index + 1 == count();
  }
};

WeightVersion version_of_update(std::int64_t update) {
  return {std::max<std::int64_t>(0, update - 1)};
}

Generator replica_of(const plan::Stage& stage, StageId id, std::size_t index, std::int64_t depth,
                     const Extent& extent, int accumulate) {
  const auto replicas = static_cast<std::int64_t>(stage.workers.size());
  const Items items{
      {replicas, extent.minibatches, accumulate}, static_cast<std::int64_t>(index), extent};
  const bool recompute = stage.recompute;
  const std::int64_t count = items.count();
  const auto append_update = [=](std::int64_t update, std::vector<Op>& ops) {
    if (replicas > 1) ops.push_back(Await{id, {update + 1}});
    ops.push_back(items.rounds.update(id, update));
  };
  const auto append = [=](std::int64_t step, std::vector<Op>& ops) {
    if (step == count + depth - 1) {  // the averagings and updates that no forward waits for
      if (replicas == 1) return;
      const std::int64_t updates = items.rounds.updates();
      std::int64_t awaited = std::max<std::int64_t>(0, items.own_updates() - 2);
      for (std::int64_t update = items.own_updates(); update < updates; ++update) {
        if (update - awaited == 2) append_update(awaited++, ops);  // saves a third gradient buffer
        ops.push_back(Reduce{id, {update + 1}});
      }
      while (awaited < updates) append_update(awaited++, ops);
      return;
    }
    if (step < count) {
      const std::int64_t update = items.update(step);
      if (replicas > 1 && step % items.of_update() == 0 && update >= 2)
        append_update(update - 2, ops);
      ops.push_back(Forward{id, items.at(step), version_of_update(update)});
    }
    const std::int64_t back = step - depth + 1;
    if (back < 0 || back >= count) return;
    const std::int64_t update = items.update(back);
    append_backward(recompute, id, items.at(back), version_of_update(update), ops);
    if (!items.ends_update(back)) return;
    if (replicas > 1)
      ops.push_back(Reduce{id, {update + 1}});
    else
      append_update(update, ops);
  };
  return {stage.workers[index], count + depth, append};
}

}  // namespace

Schedule two_buffered(const plan::Plan& plan, const Extent& extent, const cost::Traits& traits) {
  Schedule schedule{{}, {.traits = traits, .accumulate = plan.accumulate}};
  schedule.rules.in_flight = runnable_depths(plan, traits.replicas);
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const plan::Stage& stage = plan.stages[s];
    const int depth = schedule.rules.in_flight[s];
    PD_CHECK(stage.workers.size() == plan.stages.front().workers.size());
    PD_CHECK(depth == cost::most_in_flight(traits, depth, {extent.microbatches, plan.accumulate}));
    for (std::size_t i = 0; i < stage.workers.size(); ++i)
      schedule.generators.push_back(
          replica_of(stage, id_at<StageId>(s), i, depth, extent, plan.accumulate));
  }
  return schedule;
}

}  // namespace pipedream::schedule
