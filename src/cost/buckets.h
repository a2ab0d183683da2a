// Gradients are averaged in buckets, runs of layers, while the backward still runs.
#pragma once

#include <span>
#include <vector>

#include "core/buckets.h"
#include "core/units.h"
#include "profile/profile.h"

namespace pipedream::cost {

struct Bucket {
  Bytes weights;
  // The part of the stage's backward, as stage_time counts it, after which all its gradients are
  // there: 1 for the last. The update in it, and what averaging takes of the processor, are taken
  // to come first. Really the update comes last, once all is averaged; either way the time from one
  // release to the next is the same, and who waits for the averaging has waited for the update too.
  // Were it to come last here, it would hide behind the averaging that it has to wait for.
  double released = 1;
  friend bool operator==(const Bucket&, const Bucket&) = default;
};

// Of a stage of these layers, producers first: in the order in which a backward releases them, from
// the last layer to the first, by the rule of core/buckets.h. At least one. The backward is that of
// an item which is so large a share of a minibatch, above 0.
[[nodiscard]] std::vector<Bucket> buckets(const profile::Profile& profile,
                                          std::span<const LayerId> layers, double share = 1);

}  // namespace pipedream::cost
