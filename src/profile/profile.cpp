#include "profile/profile.h"

#include "core/error.h"

namespace pipedream::profile {

void check_totals(const Profile& profile) {
  Nanos time{0};
  Bytes bytes;
  // After each step, so that not even the check overflows; every single cost is below the limit.
  const auto check = [&] {
    if (time > kLongestInAll)
      throw BadValue("all layers together take more than " + to_text(kLongestInAll) +
                     " for one minibatch: is a unit wrong?");
    if (bytes > kLargestInAll)
      throw BadValue("all layers together hold more than " + to_text(kLargestInAll) +
                     ": is a unit wrong?");
  };
  for (const LayerCost& cost : profile.costs) {
    time += cost.forward + cost.backward;
    bytes += cost.weights + cost.stash;
    check();
  }
  for (const graph::Value& value : profile.graph.values()) {
    bytes += value.bytes;
    check();
  }
}

Nanos total_forward(const Profile& profile) {
  Nanos sum{0};
  for (const LayerCost& cost : profile.costs) sum += cost.forward;
  return sum;
}

Nanos total_backward(const Profile& profile) {
  Nanos sum{0};
  for (const LayerCost& cost : profile.costs) sum += cost.backward;
  return sum;
}

Bytes total_weights(const Profile& profile) {
  Bytes sum;
  for (const LayerCost& cost : profile.costs) sum += cost.weights;
  return sum;
}

}  // namespace pipedream::profile
