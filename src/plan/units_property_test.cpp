// Tests what units of random networks promise, and that no plan gets better by cutting one apart.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/property_testing.h"
#include "graph/cut.h"
#include "plan/units.h"

namespace pipedream::plan {
namespace {

using test::any_index;
using test::any_of_range;

// Returns a network of up to `most` layers with zero to two outputs, declared with producers first
// or last. A few layers are inputs, and most take no time. Sizes are small numbers, so that they
// are often equal.
profile::Profile any_mostly_free(int most) {
  const int count = std::max(any_of_range(0, most + 1), any_of_range(0, most + 1));
  const bool last_first = any_of_range(0, 2) == 0;
  const int one_in = any_of_range(1, 5);  // one in `one_in` possible edges exists
  profile::Profile profile;
  graph::Builder builder;
  std::vector<int> outputs_of;
  std::vector<bool> is_input;
  for (int i = 0; i < count; ++i) {
    std::vector<graph::Builder::Output> outputs;
    for (int k = std::vector{0, 1, 1, 1, 1, 1, 2}[any_index(7)]; k > 0; --k)
      outputs.push_back({"out" + std::to_string(k), {}, Bytes{any_of_range(0, 6)}});
    outputs_of.push_back(static_cast<int>(outputs.size()));
    is_input.push_back(any_of_range(0, 8) == 0);
    profile::LayerCost cost;
    if (is_input.back()) {
      builder.add_input("layer" + std::to_string(i), std::move(outputs));
    } else {
      builder.add_layer("layer" + std::to_string(i), "", std::move(outputs));
      if (any_of_range(0, 5) < 2)
        cost = {.forward = Nanos(any_of_range(0, 4)), .backward = Nanos(any_of_range(0, 4))};
      if (any_of_range(0, 10) == 0) cost.weights = Bytes{1};
    }
    profile.costs.push_back(cost);
  }
  for (int a = 0; a < count; ++a)
    for (int b = a + 1; b < count; ++b) {
      const LayerId from{last_first ? count - 1 - a : a};
      const LayerId to{last_first ? count - 1 - b : b};
      if (is_input[to.index()]) continue;
      for (int k = 0; k < outputs_of[from.index()]; ++k)
        if (any_of_range(0, one_in) == 0) builder.add_edge(from, static_cast<std::size_t>(k), to);
    }
  profile.graph = std::move(builder).build();
  return profile;
}

RC_GTEST_PROP(LayerUnitsProperty, HoldEachLayerThatComputesOnceProducersFirst, ()) {
  const profile::Profile profile = any_mostly_free(14);
  const graph::Graph& graph = profile.graph;
  std::set<LayerId> taken;
  for (const auto& unit : layer_units(profile)) {
    RC_ASSERT(!unit.empty());
    for (const LayerId layer : unit) {
      RC_ASSERT(!graph.layer(layer).is_input);
      RC_ASSERT(taken.insert(layer).second);
      for (const ValueId input : graph.layer(layer).inputs) {
        const LayerId producer = graph.value(input).producer;
        RC_ASSERT(graph.layer(producer).is_input || taken.contains(producer));
      }
    }
  }
  RC_ASSERT(taken.size() == single_layers(profile).size());
}

RC_GTEST_PROP(LayerUnitsProperty, HoldOneLayerAtMostThatTakesTimeOrHasWeights, ()) {
  const profile::Profile profile = any_mostly_free(14);
  for (const auto& unit : layer_units(profile))
    RC_ASSERT(std::count_if(unit.begin(), unit.end(), [&](LayerId layer) {
                const profile::LayerCost& cost = profile.cost(layer);
                return cost.forward + cost.backward > Nanos(0) || cost.weights > Bytes{0};
              }) <= 1);
}

RC_GTEST_PROP(LayerUnitsProperty, AreTheSameEachTime, ()) {
  const profile::Profile profile = any_mostly_free(14);
  const profile::Profile copy = profile;
  RC_ASSERT(layer_units(profile) == layer_units(copy));
}

using Mask = unsigned;  // a set of layers

// All straight pipelines whose cuts divide none of `units`. The time of a pipeline is that of its
// slowest stage or transfer.
class Pipelines {
 public:
  Pipelines(const profile::Profile& profile, const std::vector<std::vector<LayerId>>& units,
            std::int64_t time_per_byte)
      : profile_(profile) {
    for (const auto& unit : units)
      for (const LayerId layer : unit) all_ |= bit(layer);
    for (Mask set = 0; set <= all_; ++set)
      if ((set & ~all_) == 0 && is_down_set(set) && divides_none(set, units))
        cuts_.push_back({set, time_of(set), time_per_byte * bytes_crossing(set)});
  }

  [[nodiscard]] std::size_t cuts() const { return cuts_.size(); }

  // Returns the shortest time of all pipelines of at most `stages` stages.
  [[nodiscard]] std::int64_t best(int stages) const { return best_from(cuts_.front(), stages); }

 private:
  struct Cut {
    Mask layers;
    std::int64_t time;      // of all layers of the cut
    std::int64_t transfer;  // of all values that cross it
  };

  static Mask bit(LayerId layer) { return Mask{1} << layer.index(); }

  [[nodiscard]] std::int64_t best_from(const Cut& from, int stages) const {
    std::int64_t best = cuts_.back().time - from.time;
    if (stages == 1) return best;
    for (const Cut& to : cuts_) {
      if (to.layers == from.layers || (from.layers & ~to.layers) != 0) continue;
      const std::int64_t here = std::max(to.time - from.time, to.transfer);
      if (here < best) best = std::min(best, std::max(here, best_from(to, stages - 1)));
    }
    return best;
  }
  [[nodiscard]] bool is_down_set(Mask set) const {
    for (const graph::Value& value : profile_.graph.values())
      if (!profile_.graph.layer(value.producer).is_input && (set & bit(value.producer)) == 0)
        for (const LayerId user : value.consumers)
          if ((set & bit(user)) != 0) return false;
    return true;
  }
  static bool divides_none(Mask set, const std::vector<std::vector<LayerId>>& units) {
    return std::all_of(units.begin(), units.end(), [&](const std::vector<LayerId>& unit) {
      return std::all_of(unit.begin(), unit.end(), [&](LayerId layer) {
        return ((set & bit(layer)) != 0) == ((set & bit(unit.front())) != 0);
      });
    });
  }
  [[nodiscard]] std::int64_t time_of(Mask set) const {
    Nanos sum{0};
    for (std::size_t i = 0; i < profile_.costs.size(); ++i)
      if ((set >> i & 1U) != 0) sum += profile_.costs[i].forward + profile_.costs[i].backward;
    return sum.count();
  }
  [[nodiscard]] std::int64_t bytes_crossing(Mask set) const {
    std::vector<bool> is_before(profile_.costs.size());
    for (std::size_t i = 0; i < is_before.size(); ++i) is_before[i] = (set >> i & 1U) != 0;
    Bytes sum;
    for (const ValueId value : graph::values_crossing(profile_.graph, is_before))
      sum += profile_.graph.value(value).bytes;
    return sum.count;
  }

  const profile::Profile& profile_;
  Mask all_ = 0;
  std::vector<Cut> cuts_;
};

RC_GTEST_PROP(ExhaustiveProperty, NoPipelineIsFasterForCuttingUnitsApart, ()) {
  const profile::Profile profile = any_mostly_free(any_of_range(0, 8) == 0 ? 9 : 7);
  const std::int64_t time_per_byte = any_of_range(0, 4);
  const Pipelines by_layer(profile, single_layers(profile), time_per_byte);
  const Pipelines by_unit(profile, layer_units(profile), time_per_byte);
  RC_TAG(by_unit.cuts() < by_layer.cuts() ? "fewer cuts" : "as many cuts");
  for (int stages = 1; stages <= 4; ++stages)
    RC_ASSERT(by_unit.best(stages) == by_layer.best(stages));
}

}  // namespace
}  // namespace pipedream::plan
