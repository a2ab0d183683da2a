// Compares the cuts of random networks with their definitions, using all sets of layers.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/property_testing.h"
#include "graph/cut.h"
#include "plan/cuts.h"
#include "plan/units.h"
#include "profile/working_testing.h"

namespace pipedream::plan {
namespace {

using profile::any_working;
using test::any_index;
using test::any_of_range;

// Returns a network of up to `most` layers with zero to two outputs, declared in any order. Some
// layers are inputs. There are few edges or many. Every layer takes time, so that it is a unit of
// its own, unless `some_free`.
profile::Profile any_network(int most, bool some_free = false) {
  const auto count = static_cast<std::size_t>(
      std::max(any_of_range(0, most + 1), any_of_range(0, most + 1)));  // larger ones more often
  std::vector<std::size_t> rank(count);
  std::iota(rank.begin(), rank.end(), 0U);
  for (std::size_t i = count; i > 1; --i) std::swap(rank[i - 1], rank[any_index(i)]);

  profile::Profile profile;
  graph::Builder builder;
  std::vector<std::size_t> outputs_of;
  std::vector<bool> is_input;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<graph::Builder::Output> outputs;
    for (int k = std::min(any_of_range(0, 5), 2); k > 0; --k)
      outputs.push_back({"out" + std::to_string(k), {}, Bytes{any_of_range(0, 1000)}});
    outputs_of.push_back(outputs.size());
    is_input.push_back(any_of_range(0, 6) == 0);
    const std::string name = "layer" + std::to_string(i);
    if (is_input.back())
      builder.add_input(name, std::move(outputs));
    else
      builder.add_layer(name, "", std::move(outputs));
  }
  const int one_in = any_of_range(1, 12);  // one in `one_in` possible edges exists
  for (std::size_t from = 0; from < count; ++from)
    for (std::size_t to = 0; to < count; ++to)
      for (std::size_t k = 0; k < outputs_of[from]; ++k)
        if (rank[from] < rank[to] && !is_input[to] && any_of_range(0, one_in) == 0)
          builder.add_edge(id_at<LayerId>(from), k, id_at<LayerId>(to));
  profile.graph = std::move(builder).build();

  const bool knows_working = any_of_range(0, 2) == 1;
  for (const graph::Layer& layer : profile.graph.layers()) {
    profile::LayerCost cost;
    if (!layer.is_input) {
      cost = {.forward = Nanos(any_of_range(1, 1 << 30)),
              .backward = Nanos(any_of_range(0, 1 << 30)),
              .weights = Bytes{any_of_range(0, 1 << 30)},
              .stash = Bytes{any_of_range(0, 1000)}};
      cost.fixed_forward = cost.forward * any_of_range(0, 4) / 3;
      cost.fixed_backward = cost.backward * any_of_range(0, 4) / 3;
      cost.averaging = Nanos(any_of_range(0, 1 << 20));
      if (knows_working) {
        cost.working = any_working(Bytes{any_of_range(0, 1000)});
        cost.forward_working = any_working(Bytes{any_of_range(0, 1000)});
      }
      if (some_free && any_of_range(0, 3) > 0) {
        cost.forward = cost.backward = cost.fixed_forward = cost.fixed_backward = Nanos(0);
        if (any_of_range(0, 8) > 0) {
          cost.weights = Bytes{0};
          cost.averaging = Nanos(0);
        }
      }
      if (any_of_range(0, 2) == 1)  // otherwise keeps_input is not known
        for (std::size_t i = 0; i < layer.inputs.size(); ++i)
          cost.keeps_input.push_back(any_of_range(0, 2) == 1);
      if (any_of_range(0, 2) == 1)
        for (std::size_t i = 0; i < layer.outputs.size(); ++i)
          cost.keeps_output.push_back(any_of_range(0, 2) == 1);
    }
    profile.costs.push_back(cost);
  }
  return profile;
}

using Layers = std::set<LayerId>;

Layers set_of(const std::vector<LayerId>& layers) { return {layers.begin(), layers.end()}; }

std::vector<LayerId> layers_that_compute(const graph::Graph& graph) {
  std::vector<LayerId> found;
  for (std::size_t i = 0; i < graph.layers().size(); ++i)
    if (!graph.layers()[i].is_input) found.push_back(id_at<LayerId>(i));
  return found;
}

// Returns whether `layers` has, with each layer, all layers that it depends on, except inputs.
bool is_down_set(const graph::Graph& graph, const Layers& layers) {
  for (const LayerId layer : layers)
    for (const ValueId input : graph.layer(layer).inputs) {
      const LayerId producer = graph.value(input).producer;
      if (!graph.layer(producer).is_input && !layers.contains(producer)) return false;
    }
  return true;
}

std::set<Layers> all_down_sets(const graph::Graph& graph) {
  const std::vector<LayerId> layers = layers_that_compute(graph);
  std::set<Layers> found;
  for (unsigned members = 0; members < 1U << layers.size(); ++members) {
    Layers subset;
    for (std::size_t i = 0; i < layers.size(); ++i)
      if ((members >> i & 1U) != 0) subset.insert(layers[i]);
    if (is_down_set(graph, subset)) found.insert(subset);
  }
  return found;
}

std::vector<Layers> members_of(const Cuts& cuts) {
  std::vector<Layers> members;
  for (std::size_t cut = 0; cut < cuts.count(); ++cut)
    members.push_back(set_of(cuts.layers(0, cut)));
  return members;
}

bool is_strictly_inside(const Layers& a, const Layers& b) {
  return a.size() < b.size() && std::includes(b.begin(), b.end(), a.begin(), a.end());
}

constexpr std::size_t kAll = 1 << 8;  // the most down-sets that eight layers can have

RC_GTEST_PROP(CutsProperty, AreAllDownSetsEachOnceFromNothingToEverything, ()) {
  const profile::Profile profile = any_network(8);
  const Cuts cuts(profile, kAll);
  const std::vector<Layers> members = members_of(cuts);
  RC_ASSERT(cuts.complete());
  RC_ASSERT(std::set<Layers>(members.begin(), members.end()) == all_down_sets(profile.graph));
  RC_ASSERT(cuts.count() == all_down_sets(profile.graph).size());
  RC_ASSERT(members.front().empty());
  RC_ASSERT(members.back() == set_of(layers_that_compute(profile.graph)));
  RC_ASSERT(cuts.unit_count() == members.back().size());
}

RC_GTEST_PROP(CutsProperty, PrecedeThoseThatContainThemAndHaveALowerNumber, ()) {
  const profile::Profile profile = any_network(8);
  const Cuts cuts(profile, kAll);
  const std::vector<Layers> members = members_of(cuts);
  for (std::size_t a = 0; a < cuts.count(); ++a)
    for (std::size_t b = 0; b < cuts.count(); ++b) {
      RC_ASSERT(cuts.precedes(a, b) == is_strictly_inside(members[a], members[b]));
      RC_ASSERT(a < b || !cuts.precedes(a, b));
    }
}

// If there are more down-sets than allowed, the cuts are those of one order. They are still
// complete if the network has only one order.
RC_GTEST_PROP(CutsProperty, AreCompleteWhenThereAreNotTooMany, ()) {
  const profile::Profile profile = any_network(8);
  const auto most = static_cast<std::size_t>(any_of_range(1, 40));
  const Cuts cuts(profile, most);
  const std::size_t down_sets = all_down_sets(profile.graph).size();
  RC_ASSERT(cuts.complete() == (down_sets <= most || down_sets == cuts.unit_count() + 1));
  RC_ASSERT(cuts.count() == (cuts.complete() ? down_sets : cuts.unit_count() + 1));
  RC_ASSERT(cuts.in_line() == (cuts.count() == cuts.unit_count() + 1));
}

std::vector<LayerId> order_of(const Cuts& cuts) { return cuts.layers(0, cuts.last()); }

RC_GTEST_PROP(CutsProperty, HaveThePrefixesOfATopologicalOrder, ()) {
  const profile::Profile profile = any_network(8);
  const bool declared = any_of_range(0, 4) == 0;
  const Cuts cuts = declared ? Cuts::in_declared_order(profile)
                             : Cuts(profile, static_cast<std::size_t>(any_of_range(1, 40)));
  const std::vector<Layers> members = members_of(cuts);
  const std::vector<LayerId> order = order_of(cuts);
  RC_ASSERT(set_of(order) == set_of(layers_that_compute(profile.graph)));
  RC_ASSERT(order.size() == cuts.unit_count());
  RC_ASSERT(!declared || cuts.in_line());
  Layers taken;
  for (std::size_t i = 0; i <= order.size(); ++i) {
    RC_ASSERT(is_down_set(profile.graph, taken));
    if (cuts.in_line()) RC_ASSERT(members[i] == taken);
    RC_ASSERT(std::find(members.begin(), members.end(), taken) != members.end());
    if (i < order.size()) taken.insert(order[i]);
  }
}

RC_GTEST_PROP(CutsProperty, InDeclaredOrderFollowTheGraphWhateverIsFree, ()) {
  const profile::Profile profile = any_network(10, true);
  const Cuts cuts = Cuts::in_declared_order(profile);
  std::vector<LayerId> order;
  for (const LayerId layer : profile.graph.order())
    if (!profile.graph.layer(layer).is_input) order.push_back(layer);
  RC_ASSERT(order_of(cuts) == order);
  RC_ASSERT(cuts.count() == order.size() + 1);
  RC_ASSERT(cuts.complete() == (all_down_sets(profile.graph).size() == cuts.count()));
}

// A random network with all its cuts, or those of one order, and the layers of each cut.
struct Example {
  explicit Example(bool some_free = false) : profile(any_network(10, some_free)) {}
  profile::Profile profile;
  Cuts cuts{profile, any_of_range(0, 2) == 1 ? std::size_t{1} << 10 : std::size_t{4}};
  std::vector<Layers> members = members_of(cuts);
};

// Returns a random sequence of cuts from the empty one to the last, in which each precedes the
// next.
std::vector<std::size_t> any_ends(const Cuts& cuts) {
  std::vector<std::size_t> ends{0};
  while (ends.back() != cuts.last()) {
    std::vector<std::size_t> next;
    for (std::size_t cut = 0; cut < cuts.count(); ++cut)
      if (cuts.precedes(ends.back(), cut)) next.push_back(cut);
    ends.push_back(any_of_range(0, 4) == 0 ? cuts.last() : next[any_index(next.size())]);
  }
  return ends;
}

void expect_sums(const Example& example) {
  const Cuts& cuts = example.cuts;
  const std::vector<std::size_t> ends = any_ends(cuts);
  for (std::size_t s = 0; s + 1 < ends.size(); ++s) {
    const std::size_t a = ends[s];
    const std::size_t b = ends[s + 1];
    Layers between;
    Nanos forward{0};
    Nanos backward{0};
    Nanos fixed_forward{0};
    Nanos fixed_backward{0};
    Nanos averaging{0};
    Bytes weights;
    for (const LayerId layer : example.members[b]) {
      if (example.members[a].contains(layer)) continue;
      between.insert(layer);
      forward += example.profile.cost(layer).forward;
      backward += example.profile.cost(layer).backward;
      fixed_forward += example.profile.cost(layer).fixed_forward;
      fixed_backward += example.profile.cost(layer).fixed_backward;
      averaging += example.profile.cost(layer).averaging;
      weights += example.profile.cost(layer).weights;
    }
    RC_ASSERT(set_of(cuts.layers(a, b)) == between);
    RC_ASSERT(cuts.layers(a, b).size() == between.size());
    RC_ASSERT(cuts.forward(a, b) == static_cast<double>(forward.count()) / 1e9);
    RC_ASSERT(cuts.backward(a, b) == static_cast<double>(backward.count()) / 1e9);
    RC_ASSERT(cuts.compute(a, b) == static_cast<double>((forward + backward).count()) / 1e9);
    RC_ASSERT(cuts.fixed_forward(a, b) == static_cast<double>(fixed_forward.count()) / 1e9);
    RC_ASSERT(cuts.fixed_backward(a, b) == static_cast<double>(fixed_backward.count()) / 1e9);
    RC_ASSERT(cuts.averaging(a, b) == static_cast<double>(averaging.count()) / 1e9);
    RC_ASSERT(cuts.weights(a, b) == static_cast<double>(weights.count));
  }
}

void expect_order(const Example& example) {
  const Cuts& cuts = example.cuts;
  const std::vector<LayerId> order = order_of(cuts);
  const std::vector<std::size_t> ends = any_ends(cuts);
  for (std::size_t s = 0; s + 1 < ends.size(); ++s) {
    const std::vector<LayerId> layers = cuts.layers(ends[s], ends[s + 1]);
    auto at = order.begin();
    for (const LayerId layer : layers) {
      at = std::find(at, order.end(), layer);
      RC_ASSERT(at != order.end());
    }
  }
}

cost::StageSize size_by_definition(const profile::Profile& profile, const Layers& before,
                                   const Layers& stage) {
  const graph::Graph& graph = profile.graph;
  cost::StageSize size;
  std::set<ValueId> received;
  for (const LayerId layer : stage) {
    size.weights += profile.cost(layer).weights;
    size.held += profile::held_bytes(profile, layer);
    Bytes working;
    for (const ValueId input : graph.layer(layer).inputs) {
      const bool is_data = graph.layer(graph.value(input).producer).is_input;
      if (!is_data) working += graph.value(input).bytes;  // data has no gradient
      if (before.contains(graph.value(input).producer)) received.insert(input);
    }
    for (const ValueId output : graph.layer(layer).outputs) working += graph.value(output).bytes;
    size.working = std::max(size.working, working);
  }
  for (const ValueId value : received) size.received += graph.value(value).bytes;
  if (knows_working(profile))
    for (const LayerId layer : graph.order())
      if (stage.contains(layer))
        size.layers.push_back({profile.cost(layer).weights, held_bytes(profile, layer),
                               *profile.cost(layer).working, profile.cost(layer).forward_working});
  return size;
}

void expect_sizes(const Example& example) {
  for (int tries = 0; tries < 3; ++tries) {
    const std::vector<std::size_t> ends = any_ends(example.cuts);
    for (std::size_t s = 0; s + 1 < ends.size(); ++s) {
      const Layers& before = example.members[ends[s]];
      Layers stage;
      for (const LayerId layer : example.members[ends[s + 1]])
        if (!before.contains(layer)) stage.insert(layer);
      RC_ASSERT(example.cuts.size(ends[s], ends[s + 1]) ==
                size_by_definition(example.profile, before, stage));
    }
  }
}

double bytes_crossing(const graph::Graph& graph, const Layers& before) {
  std::vector<bool> is_before(graph.layers().size());
  for (const LayerId layer : before) is_before[layer.index()] = true;
  Bytes sum;
  for (const ValueId value : graph::values_crossing(graph, is_before))
    sum += graph.value(value).bytes;
  return static_cast<double>(sum.count);
}

void expect_crossing(const Example& example) {
  for (std::size_t cut = 0; cut < example.cuts.count(); ++cut)
    RC_ASSERT(example.cuts.crossing(cut) ==
              bytes_crossing(example.profile.graph, example.members[cut]));
}

void expect_flows(const Example& example) {
  const graph::Graph& graph = example.profile.graph;
  const std::vector<std::size_t> ends = any_ends(example.cuts);
  std::vector<StageId> stage_of(graph.layers().size());
  for (std::size_t s = 0; s + 1 < ends.size(); ++s)
    for (const LayerId layer : example.cuts.layers(ends[s], ends[s + 1]))
      stage_of[layer.index()] = id_at<StageId>(s);
  using FromTo = std::pair<std::size_t, std::size_t>;
  std::map<FromTo, double> wanted;
  for (const graph::Transfer& transfer : graph::transfers_between(graph, stage_of))
    wanted[{transfer.from.index(), transfer.to.index()}] +=
        static_cast<double>(graph.value(transfer.value).bytes.count);
  std::map<FromTo, double> found;
  for (const Cuts::Flow& flow : example.cuts.flows(ends))
    RC_ASSERT(found.emplace(FromTo{flow.from, flow.to}, flow.bytes).second);
  RC_ASSERT(found == wanted);
}

RC_GTEST_PROP(CutsProperty, SumTheCostsOfTheLayersBetween, ()) { expect_sums(Example()); }
RC_GTEST_PROP(CutsProperty, GiveTheLayersOfAStageInTheirOrder, ()) { expect_order(Example()); }
RC_GTEST_PROP(CutsProperty, KnowTheSizesOfStages, ()) { expect_sizes(Example()); }
RC_GTEST_PROP(CutsProperty, SumTheValuesThatCrossThem, ()) { expect_crossing(Example()); }
RC_GTEST_PROP(CutsProperty, SendBetweenStagesWhatTheGraphSays, ()) { expect_flows(Example()); }

// In a network with free layers, the cuts are the down-sets of layers that divide no unit.
RC_GTEST_PROP(CutsProperty, OfANetworkWithFreeLayersDivideNoUnit, ()) {
  const Example example(true);
  const Cuts& cuts = example.cuts;
  const auto units = layer_units(example.profile);
  RC_TAG(units.size() < example.members.back().size() ? "some are merged" : "none is merged");
  const auto divides_none = [&](const Layers& layers) {
    return std::all_of(units.begin(), units.end(), [&](const std::vector<LayerId>& unit) {
      return std::all_of(unit.begin(), unit.end(), [&](LayerId layer) {
        return layers.contains(layer) == layers.contains(unit.front());
      });
    });
  };
  std::set<Layers> wanted;
  for (const Layers& layers : all_down_sets(example.profile.graph))
    if (divides_none(layers)) wanted.insert(layers);
  const std::set<Layers> found(example.members.begin(), example.members.end());
  RC_ASSERT(found.size() == cuts.count());
  RC_ASSERT(std::includes(wanted.begin(), wanted.end(), found.begin(), found.end()));
  RC_ASSERT(cuts.complete() == (found == wanted));
  RC_ASSERT(cuts.unit_count() == units.size());
  for (std::size_t a = 0; a < cuts.count(); ++a)
    for (std::size_t b = 0; b < cuts.count(); ++b)
      RC_ASSERT(cuts.precedes(a, b) == is_strictly_inside(example.members[a], example.members[b]));
}

RC_GTEST_PROP(CutsProperty, OfANetworkWithFreeLayersCountThemToo, ()) {
  const Example example(true);
  expect_sums(example);
  expect_sizes(example);
  expect_crossing(example);
  expect_flows(example);
}

// Returns the sum over all prefixes of `units` of the bytes that cross them.
double bytes_along(const graph::Graph& graph, const std::vector<std::vector<LayerId>>& units) {
  double sum = 0;
  Layers taken;
  for (const auto& unit : units) {
    taken.insert(unit.begin(), unit.end());
    sum += bytes_crossing(graph, taken);
  }
  return sum;
}

std::vector<LayerId> narrow_order_of(const profile::Profile& profile) {
  std::vector<LayerId> order;
  for (const auto& unit : narrow_order(profile.graph, single_layers(profile)))
    order.insert(order.end(), unit.begin(), unit.end());
  return order;
}

RC_GTEST_PROP(NarrowOrderProperty, TakesProducersFirstAndEachLayerOnce, ()) {
  const profile::Profile profile = any_network(14);
  const std::vector<LayerId> order = narrow_order_of(profile);
  RC_ASSERT(order.size() == layers_that_compute(profile.graph).size());
  RC_ASSERT(set_of(order) == set_of(layers_that_compute(profile.graph)));
  Layers taken;
  for (const LayerId layer : order) {
    taken.insert(layer);
    RC_ASSERT(is_down_set(profile.graph, taken));
  }
}

RC_GTEST_PROP(NarrowOrderProperty, IsNeverWiderThanTheDeclaredOrder, ()) {
  const profile::Profile profile = any_network(14, true);
  for (const auto& units : {single_layers(profile), layer_units(profile)})
    RC_ASSERT(bytes_along(profile.graph, narrow_order(profile.graph, units)) <=
              bytes_along(profile.graph, units));
}

RC_GTEST_PROP(NarrowOrderProperty, OfUnitsHoldsTheSameUnitsProducersFirst, ()) {
  const profile::Profile profile = any_network(14, true);
  const auto units = layer_units(profile);
  const auto narrow = narrow_order(profile.graph, units);
  RC_ASSERT(std::multiset<std::vector<LayerId>>(units.begin(), units.end()) ==
            std::multiset<std::vector<LayerId>>(narrow.begin(), narrow.end()));
  Layers taken;
  for (const auto& unit : narrow) {
    taken.insert(unit.begin(), unit.end());
    RC_ASSERT(is_down_set(profile.graph, taken));
  }
}

RC_GTEST_PROP(NarrowOrderProperty, IsTheOrderOfCutsThatAreNotComplete, ()) {
  const profile::Profile profile = any_network(10);
  const Cuts cuts(profile, 4);
  if (!cuts.complete()) RC_ASSERT(order_of(cuts) == narrow_order_of(profile));
}

}  // namespace
}  // namespace pipedream::plan
