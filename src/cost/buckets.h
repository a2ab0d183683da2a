// The buckets in which the gradients of a stage are averaged while its backward still runs
// (docs/runtime.md#data-parallelism).
#pragma once

#include <span>
#include <vector>

#include "core/buckets.h"
#include "core/units.h"
#include "profile/profile.h"

namespace pipedream::cost {

// Consecutive layers whose gradients are averaged together.
struct Bucket {
  Bytes weights;  // of all its layers; their gradients have the same size
  // The fraction of the stage's backward after which all gradients of the bucket exist. It is 1 for
  // the last bucket if the stage's first layer has weights. The backward is that of stage_time():
  // it includes the update and the processor time of averaging. Both count as if they came before
  // the backward of the last layer, although in training the update comes after the averaging. If
  // they counted last, the averaging would overlap the update, which in training has to wait for
  // the averaging.
  double released = 1;
  friend bool operator==(const Bucket&, const Bucket&) = default;
};

// Returns the buckets of a stage with `layers`, producers first. The buckets come in the order in
// which a backward releases them, from the last layer to the first, and end by the rule of
// core/buckets.h. There is at least one: a stage without weights has one empty bucket. `share`,
// above 0, is the part of a minibatch that runs backward at once. An update has `accumulate`
// minibatches, over which update and averaging are spread (stage_time).
[[nodiscard]] std::vector<Bucket> buckets(const profile::Profile& profile,
                                          std::span<const LayerId> layers, double share = 1,
                                          int accumulate = 1);

}  // namespace pipedream::cost
