// What a stage computes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/units.h"
#include "profile/profile.h"

namespace pipedream::cost {

// A pass takes some time however few samples it has: launching its layers, reading their weights,
// adding to their gradients. `whole` is the time of a minibatch and `fixed` that part of it; what
// is not fixed grows with the samples. These two are the only place that says what a part costs.
//
// A minibatch that is run in parts of that `share` of it, above 0 (1/M: in M parts), in all.
[[nodiscard]] constexpr Seconds time_in_parts(Seconds whole, Seconds fixed, double share) {
  return whole + fixed * (1 / share - 1);
}
// One part: fixed + (whole − fixed)·share; nothing where there is nothing to run.
[[nodiscard]] constexpr Seconds time_of_part(Seconds whole, Seconds fixed, double share) {
  return share > 0 ? time_in_parts(whole, fixed, share) * share : Seconds(0);
}

struct StageTime {
  Nanos forward{0};
  Nanos backward{0};       // and the update and averaging
  Nanos fixed_forward{0};  // of the forward
  Nanos fixed_backward{0};
};

// One minibatch through these layers on a device of speed 1: the sum of their measured times, where
// they have other replicas with that of averaging.
[[nodiscard]] StageTime stage_time(const profile::Profile& profile,
                                   const std::vector<LayerId>& layers, bool replicated);

// What one item is on one replica, as a part of the profile's minibatch. This is the only place
// that says so.
//
// Where replicas take turns an item is 1/microbatches of a minibatch. Where they share items, one
// update has a minibatch for each replica of the first stage: all of these together are cut into
// `microbatches` items, and the replicas of a stage share every item, sample by sample.
struct ItemShare {
  int minibatches = 1;                // that are cut into items together
  int microbatches = 1;               // items that these are cut into
  int replicas = 1;                   // that share each item
  std::optional<std::int64_t> batch;  // samples of a minibatch, if known

  // The whole item, as a part of a minibatch.
  [[nodiscard]] double of_minibatch() const {
    return static_cast<double>(minibatches) / microbatches;
  }
  // Replicas that have samples to run: no more than an item has samples.
  [[nodiscard]] int busy_replicas() const;
  // The part of a minibatch that one replica computes; 0 for a replica without samples.
  [[nodiscard]] double on_replica(int replica) const {
    return replica < busy_replicas() ? of_minibatch() / busy_replicas() : 0;
  }
};

// For a stage of `replicas` behind a first stage of `first_replicas`.
[[nodiscard]] constexpr ItemShare item_share(bool shares_items, int first_replicas, int replicas,
                                             int microbatches, std::optional<std::int64_t> batch) {
  return {.minibatches = shares_items ? first_replicas : 1,
          .microbatches = microbatches,
          .replicas = shares_items ? replicas : 1,
          .batch = batch};
}

}  // namespace pipedream::cost
