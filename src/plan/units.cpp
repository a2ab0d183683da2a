#include "plan/units.h"

#include <algorithm>
#include <set>

namespace pipedream::plan {
namespace {

constexpr std::size_t kMostLayers = 2000;  // beyond, nobody looks at all cuts anyway

// Units are named by the layer whose place in the order they have.
class Contraction {
 public:
  explicit Contraction(const profile::Profile& profile)
      : profile_(profile), graph_(profile.graph), places_(places_in_order(graph_)) {
    for (std::size_t i = 0; i < graph_.layers().size(); ++i) {
      unit_.push_back(id_at<LayerId>(i));
      members_.push_back({id_at<LayerId>(i)});
    }
  }

  // Until nothing more can join.
  void run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const LayerId layer : graph_.order())
        if (unit_[layer.index()] == layer && is_free(layer)) changed = join(layer) || changed;
    }
  }

  [[nodiscard]] LayerId unit_of(LayerId layer) const { return unit_[layer.index()]; }

 private:
  [[nodiscard]] bool is_free(LayerId unit) const {
    const auto& members = members_[unit.index()];
    return std::all_of(members.begin(), members.end(), [&](LayerId layer) {
      const profile::LayerCost& cost = profile_.cost(layer);
      return !graph_.layer(layer).is_input &&
             cost.forward + cost.backward_with_update() == Nanos(0) && cost.weights == Bytes{0};
    });
  }

  // The values that a unit takes from others, and those it gives to others.
  [[nodiscard]] std::set<ValueId> taken(LayerId unit) const {
    std::set<ValueId> values;
    for (const LayerId layer : members_[unit.index()])
      for (const ValueId input : graph_.layer(layer).inputs) {
        const LayerId producer = graph_.value(input).producer;
        if (!graph_.layer(producer).is_input && unit_of(producer) != unit) values.insert(input);
      }
    return values;
  }
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

  [[nodiscard]] std::set<LayerId> before(LayerId unit) const {
    std::set<LayerId> units;
    for (const ValueId value : taken(unit)) units.insert(unit_of(graph_.value(value).producer));
    return units;
  }
  [[nodiscard]] std::set<LayerId> behind(LayerId unit) const {
    std::set<LayerId> units;
    for (const ValueId value : given(unit))
      for (const LayerId user : graph_.value(value).consumers)
        if (unit_of(user) != unit) units.insert(unit_of(user));
    return units;
  }

  bool join(LayerId unit) {
    const std::set<LayerId> producers = before(unit);
    const std::set<LayerId> users = behind(unit);
    // Each user may be a stage of its own, and then gets what the unit gives.
    const Bytes sent{bytes(given(unit)).count * static_cast<std::int64_t>(users.size())};
    if (producers.size() == 1 && sent <= bytes_for_it_alone(unit))
      return merge(unit, *producers.begin());
    if (users.size() == 1 && bytes(taken(unit)) <= bytes(given(unit)))
      return merge(unit, *users.begin());
    // What needs nothing and sends nothing may wait for its first user, if the others come behind
    // that one anyway.
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

  // Of the values that a unit takes, those that nobody else takes.
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

  // Whether a way leads from unit to unit.
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
  std::vector<std::size_t> places_;            // of each layer in the order
  std::vector<LayerId> unit_;                  // of each layer
  std::vector<std::vector<LayerId>> members_;  // of each unit
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
