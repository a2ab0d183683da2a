#include "cost/buckets.h"

#include <algorithm>

#include "cost/compute.h"

namespace pipedream::cost {

std::vector<Bucket> buckets(const profile::Profile& profile, std::span<const LayerId> layers,
                            double share, int accumulate) {
  Nanos update{0};  // of all layers, with the processor time of averaging
  Nanos backward{0};
  Nanos fixed{0};
  for (const LayerId layer : layers) {
    update += (profile.cost(layer).update + profile.cost(layer).averaging) / accumulate;
    backward += profile.cost(layer).backward;
    fixed += profile.cost(layer).fixed_backward;
  }
  const Seconds all = time_in_parts(update + backward, fixed, share);
  std::vector<Bucket> found;
  Bucket open{Bytes{0}, 0};
  BucketRule rule;
  Nanos done = update;
  Nanos fixed_done{0};
  for (std::size_t i = layers.size(); i-- > 0;) {
    const profile::LayerCost& cost = profile.cost(layers[i]);
    done += cost.backward;
    fixed_done += cost.fixed_backward;
    if (cost.weights == Bytes{0}) continue;
    const double released = all > Seconds(0) ? time_in_parts(done, fixed_done, share) / all : 1;
    if (rule.is_alone(cost.weights)) {
      found.push_back({cost.weights, released});
      continue;
    }
    open.weights += cost.weights;
    open.released = released;
    if (!rule.fills(cost.weights)) continue;
    found.push_back(open);
    open = {Bytes{0}, 0};
  }
  if (open.weights > Bytes{0}) {
    // It is the last one, and buckets are handed over in their order.
    if (!found.empty()) open.released = std::max(open.released, found.back().released);
    found.push_back(open);
  }
  if (found.empty()) found.push_back({Bytes{0}, 1});  // replicas still wait for each other
  return found;
}

}  // namespace pipedream::cost
