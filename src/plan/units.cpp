#include "plan/units.h"

#include <algorithm>
#include <set>

namespace pipedream::plan {
namespace {

constexpr std::size_t kMostLayers = 2000;  // with more layers, not all cuts are looked at anyway

// Joins free layers into units. A unit is named by the layer that the others joined, and has that
// layer's place in the order.
class Contraction {
 public:
  explicit Contraction(const profile::Profile& profile)
      : profile_(profile), graph_(profile.graph), places_(places_in_order(graph_)) {
    for (std::size_t i = 0; i < graph_.layers().size(); ++i) {
      unit_.push_back(id_at<LayerId>(i));
      members_.push_back({id_at<LayerId>(i)});
    }
  }

  // Joins free units to others until no more can join.
  void run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const LayerId layer : graph_.order())
        if (unit_[layer.index()] == layer && is_free(layer)) changed = join(layer) || changed;
    }
  }

  [[nodiscard]] LayerId unit_of(LayerId layer) const { return unit_[layer.index()]; }

 private:
  // Returns whether the unit takes no time and has no weights.
  [[nodiscard]] bool is_free(LayerId unit) const {
    const auto& members = members_[unit.index()];
    return std::all_of(members.begin(), members.end(), [&](LayerId layer) {
      const profile::LayerCost& cost = profile_.cost(layer);
      return !graph_.layer(layer).is_input &&
             cost.forward + cost.backward_with_update() == Nanos(0) && cost.weights == Bytes{0};
    });
  }

  // Returns the values that the unit takes from other units, input layers not counted.
  [[nodiscard]] std::set<ValueId> taken(LayerId unit) const {
    std::set<ValueId> values;
    for (const LayerId layer : members_[unit.index()])
      for (const ValueId input : graph_.layer(layer).inputs) {
        const LayerId producer = graph_.value(input).producer;
        if (!graph_.layer(producer).is_input && unit_of(producer) != unit) values.insert(input);
      }
    return values;
  }
  // Returns the values that the unit gives to other units.
  [[nodiscard]] std::set<ValueId> given(LayerId unit) const {
    std::set<ValueId> values;
    for (const LayerId layer : members_[unit.index()])
      for (const ValueId output : graph_.layer(layer).outputs)
        for (const LayerId user : graph_.value(output).consumers)
          if (unit_of(user) != unit) values.insert(output);
    return values;
  }
  [[nodiscard]] Bytes bytes(const std::set<ValueId>& values) const {
    Bytes sum;
    for (const ValueId value : values) sum += graph_.value(value).bytes;
    return sum;
  }

  // Returns the units that `unit` takes values from.
  [[nodiscard]] std::set<LayerId> before(LayerId unit) const {
    std::set<LayerId> units;
    for (const ValueId value : taken(unit)) units.insert(unit_of(graph_.value(value).producer));
    return units;
  }
  // Returns the units that take values from `unit`.
  [[nodiscard]] std::set<LayerId> behind(LayerId unit) const {
    std::set<LayerId> units;
    for (const ValueId value : given(unit))
      for (const LayerId user : graph_.value(value).consumers)
        if (unit_of(user) != unit) units.insert(unit_of(user));
    return units;
  }

  // Joins `unit` to a neighbour if no stage then sends or receives more. Returns whether it did.
  bool join(LayerId unit) {
    const std::set<LayerId> producers = before(unit);
    const std::set<LayerId> users = behind(unit);
    // Each user may be in a stage of its own, to which the unit's values are then sent.
    const Bytes sent{bytes(given(unit)).count * static_cast<std::int64_t>(users.size())};
    if (producers.size() == 1 && sent <= bytes_for_it_alone(unit))
      return merge(unit, *producers.begin());
    if (users.size() == 1 && bytes(taken(unit)) <= bytes(given(unit)))
      return merge(unit, *users.begin());
    // A unit that takes nothing and whose values have no bytes may join its first user, if all
    // other users come after that user anyway.
    if (producers.empty() && !users.empty() && bytes(given(unit)) == Bytes{0}) {
      const LayerId first = *std::min_element(
          users.begin(), users.end(),
          [&](LayerId a, LayerId b) { return places_[a.index()] < places_[b.index()]; });
      if (std::all_of(users.begin(), users.end(), [&](LayerId user) { return leads(first, user); }))
        return merge(unit, first);
    }
    return false;
  }

  bool merge(LayerId unit, LayerId into) {
    for (const LayerId layer : members_[unit.index()]) {
      unit_[layer.index()] = into;
      members_[into.index()].push_back(layer);
    }
    members_[unit.index()].clear();
    return true;
  }

  // Returns the bytes of the values that `unit` takes and that no other unit takes.
  [[nodiscard]] Bytes bytes_for_it_alone(LayerId unit) const {
    std::set<ValueId> alone;
    for (const ValueId value : taken(unit)) {
      const LayerId producer = unit_of(graph_.value(value).producer);
      const auto& users = graph_.value(value).consumers;
      if (std::all_of(users.begin(), users.end(), [&](LayerId user) {
            return unit_of(user) == unit || unit_of(user) == producer;
          }))
        alone.insert(value);
    }
    return bytes(alone);
  }

  // Returns whether `to` depends on `from`, directly or through other units, or is `from`.
  [[nodiscard]] bool leads(LayerId from, LayerId to) const {
    std::set<LayerId> seen{from};
    std::vector<LayerId> next{from};
    while (!next.empty()) {
      const LayerId unit = next.back();
      next.pop_back();
      if (unit == to) return true;
      for (const LayerId user : behind(unit))
        if (seen.insert(user).second) next.push_back(user);
    }
    return false;
  }

  const profile::Profile& profile_;
  const graph::Graph& graph_;
  std::vector<std::size_t> places_;            // by layer: its position in the graph's order
  std::vector<LayerId> unit_;                  // by layer: its unit
  std::vector<std::vector<LayerId>> members_;  // by unit: its layers
};

}  // namespace

std::vector<std::vector<LayerId>> layer_units(const profile::Profile& profile) {
  if (profile.graph.layers().size() > kMostLayers) return single_layers(profile);
  Contraction contraction(profile);
  contraction.run();
  const graph::Graph& graph = profile.graph;
  std::vector<std::vector<LayerId>> members(graph.layers().size());
  for (const LayerId layer : graph.order())
    if (!graph.layer(layer).is_input) members[contraction.unit_of(layer).index()].push_back(layer);
  std::vector<std::vector<LayerId>> units;
  for (const LayerId layer : graph.order())
    if (!members[layer.index()].empty()) units.push_back(std::move(members[layer.index()]));
  return units;
}

std::vector<std::vector<LayerId>> single_layers(const profile::Profile& profile) {
  std::vector<std::vector<LayerId>> units;
  for (const LayerId layer : profile.graph.order())
    if (!profile.graph.layer(layer).is_input) units.push_back({layer});
  return units;
}

}  // namespace pipedream::plan
