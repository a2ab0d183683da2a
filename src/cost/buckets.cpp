#include "cost/buckets.h"

namespace pipedream::cost {

std::vector<Bucket> buckets(const profile::Profile& profile, std::span<const LayerId> layers) {
  Nanos update{0};
  Nanos backward{0};
  for (const LayerId layer : layers) {
    update += profile.cost(layer).update;
    backward += profile.cost(layer).backward;
  }
  const Nanos all = update + backward;
  const auto share = [&](Nanos done) {
    return all > Nanos{0} ? to_seconds(done) / to_seconds(all) : 1.0;
  };
  std::vector<Bucket> found;
  Bucket open{Bytes{0}, 0};
  Nanos done = update;
  for (std::size_t i = layers.size(); i-- > 0;) {
    const profile::LayerCost& cost = profile.cost(layers[i]);
    done += cost.backward;
    if (cost.weights == Bytes{0}) continue;
    open.weights += cost.weights;
    open.released = share(done);
    if (open.weights < kFullBucket) continue;
    found.push_back(open);
    open = {Bytes{0}, 0};
  }
  if (open.weights > Bytes{0}) found.push_back(open);
  if (found.empty()) found.push_back({Bytes{0}, 1});  // all members still wait for each other
  return found;
}

}  // namespace pipedream::cost
