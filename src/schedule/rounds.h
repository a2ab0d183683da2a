// Rounds of a stage whose replicas take minibatches in turn. With r replicas, round q consists of
// the minibatches q·r … q·r + r − 1, one for each replica. An update applies the gradients of K
// rounds; the last update may have fewer. Update u, counted from 0, follows round (u + 1)·K − 1 and
// gives version u + 1 of the stage's weights.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plan/plan.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

struct Rounds {
  std::int64_t replicas = 1;
  std::int64_t minibatches = 0;
  std::int64_t accumulate = 1;  // rounds of an update (K)

  [[nodiscard]] std::int64_t count() const { return (minibatches + replicas - 1) / replicas; }
  // Returns whether `replica` has a minibatch in `round`. Only the last round may lack minibatches.
  [[nodiscard]] bool has(std::int64_t round, std::int64_t replica) const {
    return minibatch(round, replica) < minibatches;
  }
  [[nodiscard]] std::int64_t minibatch(std::int64_t round, std::int64_t replica) const {
    return round * replicas + replica;
  }
  // Returns the number of updates.
  [[nodiscard]] std::int64_t updates() const { return (count() + accumulate - 1) / accumulate; }
  // Returns the number of the update that applies the gradients of `round`.
  [[nodiscard]] std::int64_t update_of(std::int64_t round) const { return round / accumulate; }
  // Returns whether `round` is the last one of its update.
  [[nodiscard]] bool ends_update(std::int64_t round) const {
    return (round + 1) % accumulate == 0 || round + 1 == count();
  }
  // Returns update number `u`.
  [[nodiscard]] Update update(StageId stage, std::int64_t u) const {
    const std::int64_t each = replicas * accumulate;
    return {stage, {u}, {u + 1}, u * each, std::min(minibatches, (u + 1) * each) - 1};
  }
};

// Returns the schedule of a plan with one stage, whose replicas have one minibatch in flight each.
// append(rounds, replica, q, ops) adds the ops of `replica` in round q.
template <class Append>
[[nodiscard]] Schedule schedule_in_rounds(const plan::Plan& plan, const Extent& extent,
                                          const cost::Traits& traits, Append append) {
  Schedule schedule{{}, {.traits = traits, .in_flight = {1}, .accumulate = plan.accumulate}};
  const auto& workers = plan.stages.at(0).workers;
  const Rounds rounds{static_cast<std::int64_t>(workers.size()), extent.minibatches,
                      plan.accumulate};
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const auto of_replica = [append, rounds, replica = static_cast<std::int64_t>(i)](
                                std::int64_t q, std::vector<Op>& ops) {
      append(rounds, replica, q, ops);
    };
    schedule.generators.push_back({workers[i], rounds.count(), of_replica});
  }
  return schedule;
}

}  // namespace pipedream::schedule
