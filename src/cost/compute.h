// How long a stage computes for a minibatch or a part of one (docs/planner.md#the-cost-model).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/units.h"
#include "profile/profile.h"

namespace pipedream::cost {

// A minibatch may run in parts (microbatches). `whole` is the time of a minibatch that runs at
// once. `fixed` is the part of `whole` that does not depend on the number of samples: launching the
// layers, reading their weights, adding to their gradients. Every part takes all of `fixed`; the
// rest of `whole` grows with the samples. time_in_parts() and time_of_part() are the only place of
// this rule.
//
// Returns the total time of one minibatch that runs in 1/`share` equal parts. `share` is above 0:
// 1/M if a minibatch is cut into M microbatches, above 1 if several minibatches run as one item.
[[nodiscard]] constexpr Seconds time_in_parts(Seconds whole, Seconds fixed, double share) {
  return whole + fixed * (1 / share - 1);
}
// Returns the time of one part that is `share` of a minibatch, fixed + (whole − fixed)·share; 0 if
// `share` is 0.
[[nodiscard]] constexpr Seconds time_of_part(Seconds whole, Seconds fixed, double share) {
  return share > 0 ? time_in_parts(whole, fixed, share) * share : Seconds(0);
}

// The time of one minibatch on one replica of a stage.
struct StageTime {
  Nanos forward{0};
  Nanos backward{0};        // with its part of the update and of the processor time of averaging
  Nanos fixed_forward{0};   // the part of `forward` that does not depend on the samples
  Nanos fixed_backward{0};  // the part of `backward` that does not depend on the samples
};

// Returns the time of one minibatch through `layers` on a device of speed 1: the sum of their
// measured times. The processor time of averaging counts if the stage is `replicated`. If an update
// has `accumulate` minibatches, update and averaging are spread evenly over them.
[[nodiscard]] StageTime stage_time(const profile::Profile& profile,
                                   const std::vector<LayerId>& layers, bool replicated,
                                   int accumulate = 1);

// How large one item is on one replica, as a part of the profile's minibatch. This is the only
// place of that rule.
//
// If replicas take turns, an item is 1/`microbatches` of a minibatch. If replicas share items, one
// update has a minibatch for each replica of the first stage. These minibatches together are cut
// into `microbatches` items, and the replicas of a stage divide the samples of every item among
// them.
struct ItemShare {
  int minibatches = 1;                // minibatches that are cut into items together
  int microbatches = 1;               // items that `minibatches` minibatches are cut into
  int replicas = 1;                   // replicas that share each item; 1 if they take turns
  std::optional<std::int64_t> batch;  // samples of a minibatch; nullopt if not known

  // Returns the size of a whole item, as a part of a minibatch.
  [[nodiscard]] double of_minibatch() const {
    return static_cast<double>(minibatches) / microbatches;
  }
  // Returns how many replicas have samples of an item to run: no more than the item has samples,
  // and at least 1.
  [[nodiscard]] int busy_replicas() const;
  // Returns what replica number `replica` runs of an item, as a part of a minibatch; 0 for a
  // replica without samples.
  [[nodiscard]] double on_replica(int replica) const {
    return replica < busy_replicas() ? of_minibatch() / busy_replicas() : 0;
  }
};

// Returns the item share of a stage with `replicas` replicas in a pipeline whose first stage has
// `first_replicas`. `microbatches` is the number of items that one update is cut into if replicas
// share items (`shares_items`), else the number that one minibatch is cut into.
[[nodiscard]] constexpr ItemShare item_share(bool shares_items, int first_replicas, int replicas,
                                             int microbatches, std::optional<std::int64_t> batch) {
  return {.minibatches = shares_items ? first_replicas : 1,
          .microbatches = microbatches,
          .replicas = shares_items ? replicas : 1,
          .batch = batch};
}

}  // namespace pipedream::cost
