// Compares profiles field by field for tests. Comparing their JSON instead would hide mistakes of
// the writer.
#pragma once

#include <string>

#include "profile/profile.h"

namespace pipedream::profile {

// Returns the name of the first field in which the profiles differ, or an empty string if they are
// equal.
[[nodiscard]] inline std::string difference(const Profile& a, const Profile& b) {
  if (a.model != b.model) return "model: " + a.model + " / " + b.model;
  if (a.batch != b.batch) return "batch";
  if (a.device != b.device) return "device: " + a.device + " / " + b.device;
  if (a.precision != b.precision) return "precision: " + a.precision + " / " + b.precision;
  if (a.threads != b.threads) return "threads";
  if (a.workers != b.workers) return "workers";
  if (a.passes != b.passes) return "passes";
  if (a.spread != b.spread) return "spread";
  if (a.input != b.input) return "input";
  if (a.whole != b.whole) return "whole";
  if (a.costs.size() != b.costs.size()) return "number of costs";
  if (a.graph.layers().size() != b.graph.layers().size()) return "number of layers";
  if (a.graph.values().size() != b.graph.values().size()) return "number of values";
  if (a.graph.order() != b.graph.order()) return "order";
  for (std::size_t i = 0; i < a.costs.size(); ++i) {
    const graph::Layer& x = a.graph.layers()[i];
    const graph::Layer& y = b.graph.layers()[i];
    if (x.name != y.name || x.kind != y.kind || x.is_input != y.is_input || x.inputs != y.inputs ||
        x.outputs != y.outputs)
      return "layer " + x.name + " / " + y.name;
    if (a.costs[i] != b.costs[i]) return "cost of " + x.name;
  }
  for (std::size_t i = 0; i < a.graph.values().size(); ++i) {
    const graph::Value& x = a.graph.values()[i];
    const graph::Value& y = b.graph.values()[i];
    if (x.producer != y.producer || x.name != y.name || x.shape != y.shape || x.bytes != y.bytes ||
        x.consumers != y.consumers || x.is_weight != y.is_weight)
      return "value " + x.name + " / " + y.name;
  }
  return {};
}

}  // namespace pipedream::profile
