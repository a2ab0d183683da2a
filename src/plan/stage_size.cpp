#include "plan/stage_size.h"

#include <algorithm>
#include <set>

namespace pipedream::plan {

cost::LayerSize layer_size(const profile::Profile& profile, LayerId layer) {
  const profile::LayerCost& cost = profile.cost(layer);
  return {cost.weights, profile::held_bytes(profile, layer),
          cost.working.value_or(profile::Working{}), cost.forward_working};
}

cost::StageSize stage_size(const profile::Profile& profile, const std::vector<LayerId>& layers) {
  const graph::Graph& graph = profile.graph;
  const std::set<LayerId> inside(layers.begin(), layers.end());
  std::set<ValueId> received;
  cost::StageSize size;
  for (const LayerId layer : layers) {
    size.weights += profile.cost(layer).weights;
    size.held += profile::held_bytes(profile, layer);
    Bytes around{0};
    for (const ValueId value : graph.layer(layer).outputs) around += graph.value(value).bytes;
    for (const ValueId value : graph.layer(layer).inputs) {
      const graph::Value& input = graph.value(value);
      if (graph.layer(input.producer).is_input) continue;  // data has no gradient
      around += input.bytes;
      if (!inside.contains(input.producer) && received.insert(value).second)
        size.received += input.bytes;
    }
    size.working = std::max(size.working, around);
  }
  if (profile::knows_working(profile))
    for (const LayerId layer : graph.order())
      if (inside.contains(layer)) size.layers.push_back(layer_size(profile, layer));
  return size;
}

}  // namespace pipedream::plan
