// What a stage computes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/units.h"
#include "profile/profile.h"

namespace pipedream::cost {

struct StageTime {
  Nanos forward{0};
  Nanos backward{0};  // and the update
};

// One minibatch through these layers on a device of speed 1: the sum of their measured times.
[[nodiscard]] StageTime stage_time(const profile::Profile& profile,
                                   const std::vector<LayerId>& layers);

// What one item is, in parts of the profile's minibatch.
struct ItemShare {
  int minibatches = 1;                // of which one update of a shared item's pipeline consists
  int microbatches = 1;               // that they are cut into
  int replicas = 1;                   // that share each item, sample by sample
  std::optional<std::int64_t> batch;  // samples of a minibatch

  [[nodiscard]] double of_minibatch() const {
    return static_cast<double>(minibatches) / microbatches;
  }
  // Replicas that have something to do: no more than an item has samples.
  [[nodiscard]] int busy_replicas() const;
  // The part that one replica computes; 0 for those that have nothing to do.
  [[nodiscard]] double on_replica(int replica) const {
    return replica < busy_replicas() ? of_minibatch() / busy_replicas() : 0;
  }
};

}  // namespace pipedream::cost
