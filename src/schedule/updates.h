// The updates of a schedule in which all workers take part in every minibatch. An update applies
// the gradients of K consecutive minibatches (plan::Plan::accumulate); the last update may have
// fewer.
#pragma once

#include "schedule/rounds.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

struct Updates {
  Extent extent;
  std::int64_t accumulate = 1;  // minibatches of an update (K)

  [[nodiscard]] std::int64_t count() const { return rounds().updates(); }
  // Returns update number `u`, counted from 0.
  [[nodiscard]] Update update(StageId stage, std::int64_t u) const {
    return rounds().update(stage, u);
  }
  // Returns the number of microbatches in all minibatches of update `u`.
  [[nodiscard]] int items(std::int64_t u) const {
    const Update of = update(StageId{0}, u);
    return static_cast<int>(of.last - of.first) * extent.microbatches +
           extent.microbatches_of(of.last);
  }
  // Returns one of the items of update `u`, which are numbered from 0 through all its minibatches.
  [[nodiscard]] Item item(std::int64_t u, int index) const {
    return {u * accumulate + index / extent.microbatches, index % extent.microbatches};
  }

 private:
  [[nodiscard]] Rounds rounds() const { return {1, extent.minibatches, accumulate}; }
};

}  // namespace pipedream::schedule
