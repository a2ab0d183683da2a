// Rounds of a stage whose replicas take minibatches in turn. With r replicas, round q consists of
// the minibatches q·r … q·r + r − 1, one for each replica. The update after round q gives version
// q + 1 of the stage's weights.
#pragma once

#include <algorithm>
#include <cstdint>

#include "schedule/ops.h"

namespace pipedream::schedule {

struct Rounds {
  std::int64_t replicas = 1;
  std::int64_t minibatches = 0;

  [[nodiscard]] std::int64_t count() const { return (minibatches + replicas - 1) / replicas; }
  // Returns whether `replica` has a minibatch in `round`. Only the last round may lack minibatches.
  [[nodiscard]] bool has(std::int64_t round, std::int64_t replica) const {
    return minibatch(round, replica) < minibatches;
  }
  [[nodiscard]] std::int64_t minibatch(std::int64_t round, std::int64_t replica) const {
    return round * replicas + replica;
  }
  // Returns the update that applies the gradients of `round`.
  [[nodiscard]] Update update(StageId stage, std::int64_t round) const {
    return {stage,
            {round},
            {round + 1},
            round * replicas,
            std::min(minibatches, (round + 1) * replicas) - 1};
  }
};

}  // namespace pipedream::schedule
