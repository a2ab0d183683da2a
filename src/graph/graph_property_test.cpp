#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/error.h"
#include "core/property_testing.h"
#include "graph/cut.h"

namespace pipedream::graph {
namespace {

using test::any_of_range;

// Returns a random graph. Its layers have zero to three outputs, some are input layers, and they
// are declared in random order. Edges lead from lower to higher `rank`, so there is no cycle.
Graph any_graph() {
  const int count = any_of_range(0, 13);
  std::vector<int> rank(static_cast<std::size_t>(count));
  std::iota(rank.begin(), rank.end(), 0);
  for (std::size_t i = rank.size(); i > 1; --i)
    std::swap(rank[i - 1], rank[static_cast<std::size_t>(any_of_range(0, static_cast<int>(i)))]);

  Builder builder;
  std::vector<int> outputs_of;
  std::vector<bool> is_input;
  for (int i = 0; i < count; ++i) {
    std::vector<Builder::Output> outputs;
    const int most = any_of_range(0, 4);
    for (int k = 0; k < most; ++k)
      outputs.push_back({"out" + std::to_string(k), {}, Bytes{any_of_range(0, 1000)}});
    outputs_of.push_back(most);
    is_input.push_back(any_of_range(0, 5) == 0);
    const std::string name = "layer" + std::to_string(i);
    if (is_input.back())
      builder.add_input(name, outputs);
    else
      builder.add_layer(name, "", outputs);
  }
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      const auto f = static_cast<std::size_t>(from);
      const auto t = static_cast<std::size_t>(to);
      if (rank[f] >= rank[t] || is_input[t]) continue;
      for (int k = 0; k < outputs_of[f]; ++k)
        if (any_of_range(0, 4) == 0)
          builder.add_edge(LayerId{from}, static_cast<std::size_t>(k), LayerId{to});
    }
  }
  return std::move(builder).build();
}

RC_GTEST_PROP(GraphProperty, OrderIsATopologicalPermutation, ()) {
  const Graph graph = any_graph();
  std::vector<int> position(graph.layers().size(), -1);
  for (std::size_t p = 0; p < graph.order().size(); ++p)
    position.at(graph.order()[p].index()) = static_cast<int>(p);
  RC_ASSERT(graph.order().size() == graph.layers().size());
  RC_ASSERT(std::count(position.begin(), position.end(), -1) == 0);
  for (std::size_t i = 0; i < graph.layers().size(); ++i)
    for (const ValueId input : graph.layers()[i].inputs)
      RC_ASSERT(position[graph.value(input).producer.index()] < position[i]);
}

// A layer is ready once the producers of all its inputs are placed. No layer is placed while a
// ready layer that was declared earlier waits.
RC_GTEST_PROP(GraphProperty, OrderTakesTheFirstDeclaredOfTheReadyLayers, ()) {
  const Graph graph = any_graph();
  std::set<LayerId> placed;
  for (const LayerId next : graph.order()) {
    const auto is_ready = [&](LayerId layer) {
      return std::all_of(graph.layer(layer).inputs.begin(), graph.layer(layer).inputs.end(),
                         [&](ValueId v) { return placed.contains(graph.value(v).producer); });
    };
    for (LayerId other{0}; other < next; ++other.value)
      RC_ASSERT(placed.contains(other) || !is_ready(other));
    placed.insert(next);
  }
}

RC_GTEST_PROP(GraphProperty, InputsAndConsumersAreTheSameEdges, ()) {
  const Graph graph = any_graph();
  std::multiset<std::pair<ValueId, LayerId>> by_layer;
  std::multiset<std::pair<ValueId, LayerId>> by_value;
  for (std::size_t i = 0; i < graph.layers().size(); ++i)
    for (const ValueId input : graph.layers()[i].inputs) by_layer.emplace(input, id_at<LayerId>(i));
  for (std::size_t i = 0; i < graph.values().size(); ++i)
    for (const LayerId user : graph.values()[i].consumers)
      by_value.emplace(id_at<ValueId>(i), user);
  RC_ASSERT(by_layer == by_value);
}

// An edge from a layer back to itself or to one of its ancestors makes a cycle, and the message
// shows the edge.
RC_GTEST_PROP(GraphProperty, AnEdgeBackIsRefusedAsACycle, ()) {
  const int count = any_of_range(1, 20);
  const int from = any_of_range(0, count);
  const int to = any_of_range(0, from + 1);
  Builder builder;
  for (int i = 0; i < count; ++i)
    builder.add_layer(std::to_string(i), "", {{"forth", {}, {}}, {"back", {}, {}}});
  for (int i = 1; i < count; ++i) builder.add_edge(LayerId{i - 1}, 0, LayerId{i});
  builder.add_edge(LayerId{from}, 1, LayerId{to});
  try {
    (void)std::move(builder).build();
    RC_FAIL("a cycle was accepted");
  } catch (const BadValue& bad) {
    const std::string what = bad.what();
    RC_ASSERT(what.find("the layers form a cycle: '") == 0U);
    RC_ASSERT(what.find("'" + std::to_string(from) + "' → '" + std::to_string(to) + "'") !=
              std::string::npos);
  }
}

RC_GTEST_PROP(CutProperty, EachPrefixSumsTheValuesThatCrossIt, ()) {
  const Graph graph = any_graph();
  const std::vector<Bytes> bytes = bytes_crossing_each_prefix(graph);
  RC_ASSERT(bytes.size() == graph.layers().size() + 1);
  std::vector<bool> before(graph.layers().size());
  for (std::size_t p = 0; p < bytes.size(); ++p) {
    Bytes sum;
    for (const ValueId value : values_crossing(graph, before)) sum += graph.value(value).bytes;
    RC_ASSERT(bytes[p] == sum);
    if (p < graph.order().size()) before[graph.order()[p].index()] = true;
  }
}

// `before` is any set of layers, not only a prefix of a topological order.
RC_GTEST_PROP(CutProperty, ValuesCrossingFollowsItsDefinition, ()) {
  const Graph graph = any_graph();
  std::vector<bool> before;
  for (std::size_t i = 0; i < graph.layers().size(); ++i) before.push_back(any_of_range(0, 2) == 1);
  std::set<ValueId> wanted;
  for (std::size_t user = 0; user < graph.layers().size(); ++user)
    for (const ValueId input : graph.layers()[user].inputs) {
      const LayerId producer = graph.value(input).producer;
      if (before[producer.index()] && !before[user] && !graph.layer(producer).is_input)
        wanted.insert(input);
    }
  RC_ASSERT(values_crossing(graph, before) == std::vector<ValueId>(wanted.begin(), wanted.end()));
}

RC_GTEST_PROP(CutProperty, TransfersAreTheEdgesBetweenStagesEachOnce, ()) {
  const Graph graph = any_graph();
  std::vector<StageId> stage_of;
  for (std::size_t i = 0; i < graph.layers().size(); ++i)
    stage_of.push_back(StageId{any_of_range(0, 4)});
  std::set<Transfer> wanted;
  for (std::size_t user = 0; user < graph.layers().size(); ++user)
    for (const ValueId input : graph.layers()[user].inputs) {
      const LayerId producer = graph.value(input).producer;
      const Transfer transfer{input, stage_of[producer.index()], stage_of[user]};
      if (transfer.from != transfer.to && !graph.layer(producer).is_input) wanted.insert(transfer);
    }
  RC_ASSERT(transfers_between(graph, stage_of) ==
            std::vector<Transfer>(wanted.begin(), wanted.end()));
}

}  // namespace
}  // namespace pipedream::graph
