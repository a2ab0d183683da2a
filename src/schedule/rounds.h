// Replicas that take minibatches in turn: round q is the minibatches q·r … q·r + r − 1, one for
// each of r replicas, and gives version q + 1 of the stage's weights.
#pragma once

#include <algorithm>
#include <cstdint>

#include "schedule/ops.h"

namespace pipedream::schedule {

struct Rounds {
  std::int64_t replicas = 1;
  std::int64_t minibatches = 0;

  [[nodiscard]] std::int64_t count() const { return (minibatches + replicas - 1) / replicas; }
  // Whether the last round, which may not be full, has a minibatch for that replica.
  [[nodiscard]] bool has(std::int64_t round, std::int64_t replica) const {
    return minibatch(round, replica) < minibatches;
  }
  [[nodiscard]] std::int64_t minibatch(std::int64_t round, std::int64_t replica) const {
    return round * replicas + replica;
  }
  [[nodiscard]] Update update(StageId stage, std::int64_t round) const {
    return {stage,
            {round},
            {round + 1},
            round * replicas,
            std::min(minibatches, (round + 1) * replicas) - 1};
  }
};

}  // namespace pipedream::schedule
