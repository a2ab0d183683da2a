#include "graph/cut.h"

#include <gtest/gtest.h>

namespace pipedream::graph {
namespace {

// A small network with all that makes cuts hard: skips, two outputs, inputs used late.
//
//   data ─▶ stem ─▶ fork ─long─▶ ──────────┐
//     │               └──short─▶ mid ─▶ join ─▶ loss ◀─ labels
//     └──────────────────────────▶│            (stem also skips to loss)
//
// Bytes: stem 10, fork long 200 and short 3000, mid 40000, join 500000; inputs 7 each.
struct Network {
  LayerId data, stem, fork, mid, join, labels, loss;
  ValueId of_stem, of_long, of_short, of_mid, of_join;
  Graph graph;

  Network() {
    Builder b;
    data = b.add_input("data", {{"out", {}, Bytes{7}}});
    stem = b.add_layer("stem", "", {{"out", {}, Bytes{10}}});
    fork = b.add_layer("fork", "", {{"long", {}, Bytes{200}}, {"short", {}, Bytes{3000}}});
    mid = b.add_layer("mid", "", {{"out", {}, Bytes{40000}}});
    join = b.add_layer("join", "", {{"out", {}, Bytes{500000}}});
    labels = b.add_input("labels", {{"out", {}, Bytes{7}}});
    loss = b.add_layer("loss", "", {{"out", {}, Bytes{4}}});  // no layer uses its value
    b.add_edge(data, 0, stem);
    b.add_edge(data, 0, mid);
    b.add_edge(stem, 0, fork);
    b.add_edge(stem, 0, loss);
    b.add_edge(fork, 0, join);
    b.add_edge(fork, 1, mid);
    b.add_edge(mid, 0, join);
    b.add_edge(join, 0, loss);
    b.add_edge(labels, 0, loss);
    graph = std::move(b).build();
    of_stem = graph.layer(stem).outputs[0];
    of_long = graph.layer(fork).outputs[0];
    of_short = graph.layer(fork).outputs[1];
    of_mid = graph.layer(mid).outputs[0];
    of_join = graph.layer(join).outputs[0];
  }

  // Returns the argument `before` of values_crossing() for a cut with only `layers` before it.
  [[nodiscard]] std::vector<bool> only(std::initializer_list<LayerId> layers) const {
    std::vector<bool> before(graph.layers().size());
    for (const LayerId layer : layers) before[layer.index()] = true;
    return before;
  }
};

TEST(ValuesCrossing, CountsAValueOnceHoweverManyUseIt) {
  const Network n;
  EXPECT_EQ(values_crossing(n.graph, n.only({n.data, n.stem})), std::vector{n.of_stem});
}

TEST(ValuesCrossing, TellsTheOutputsOfOneLayerApart) {
  const Network n;
  EXPECT_EQ(values_crossing(n.graph, n.only({n.data, n.stem, n.fork, n.mid})),
            (std::vector{n.of_stem, n.of_long, n.of_mid}));
}

TEST(ValuesCrossing, CarriesASkipAcrossEveryCutBeneathIt) {
  const Network n;
  EXPECT_EQ(values_crossing(n.graph, n.only({n.data, n.stem, n.fork, n.mid, n.join})),
            (std::vector{n.of_stem, n.of_join}));
}

TEST(ValuesCrossing, LeavesOutInputsAndUnusedValues) {
  const Network n;
  EXPECT_TRUE(values_crossing(n.graph, n.only({n.data, n.labels})).empty());
  const std::vector<bool> all(n.graph.layers().size(), true);
  EXPECT_TRUE(values_crossing(n.graph, all).empty());
  EXPECT_TRUE(values_crossing(n.graph, n.only({})).empty());
}

TEST(BytesCrossingEachPrefix, SumsWhatCrosses) {
  const Network n;
  ASSERT_EQ(n.graph.order(),
            (std::vector{n.data, n.stem, n.fork, n.mid, n.join, n.labels, n.loss}));
  const std::vector<Bytes> wanted{
      Bytes{0},       // nothing before the cut
      Bytes{0},       // data, which every stage reads itself
      Bytes{10},      // stem
      Bytes{3210},    // stem, long, short
      Bytes{40210},   // stem, long, mid
      Bytes{500010},  // stem, join
      Bytes{500010},  // labels add nothing
      Bytes{0},       // the value of loss is not used
  };
  EXPECT_EQ(bytes_crossing_each_prefix(n.graph), wanted);
}

TEST(BytesCrossingEachPrefix, OfAnEmptyGraphIsOneZero) {
  EXPECT_EQ(bytes_crossing_each_prefix(Builder().build()), std::vector{Bytes{0}});
}

TEST(TransfersBetween, SendsAValueOnceToEachStageThatUsesIt) {
  Builder b;
  const LayerId a = b.add_layer("a", "", {{"out", {}, Bytes{1}}});
  std::vector<StageId> stage_of{StageId{0}};
  for (const int stage : {2, 1, 2, 0, 1}) {
    const LayerId user = b.add_layer("user" + std::to_string(stage_of.size()), "", {});
    b.add_edge(a, 0, user);
    stage_of.push_back(StageId{stage});
  }
  const Graph graph = std::move(b).build();
  const std::vector<Transfer> wanted{{ValueId{0}, StageId{0}, StageId{1}},
                                     {ValueId{0}, StageId{0}, StageId{2}}};
  EXPECT_EQ(transfers_between(graph, stage_of), wanted);
}

TEST(TransfersBetween, SkipsGoStraightFromProducerToConsumer) {
  const Network n;
  std::vector<StageId> stage_of(n.graph.layers().size());
  stage_of[n.fork.index()] = stage_of[n.mid.index()] = StageId{1};
  stage_of[n.join.index()] = stage_of[n.loss.index()] = StageId{2};
  // The stages of input layers do not matter, because their values are never sent.
  stage_of[n.data.index()] = stage_of[n.labels.index()] = StageId{9};
  const std::vector<Transfer> wanted{{n.of_stem, StageId{0}, StageId{1}},
                                     {n.of_stem, StageId{0}, StageId{2}},
                                     {n.of_long, StageId{1}, StageId{2}},
                                     {n.of_mid, StageId{1}, StageId{2}}};
  EXPECT_EQ(transfers_between(n.graph, stage_of), wanted);
}

TEST(TransfersBetween, SayWhichOfThemAreWeights) {
  Builder b;
  const LayerId a =
      b.add_layer("a", "", {{"out", {}, Bytes{1}}, {"weight", {}, Bytes{9}, /*is_weight=*/true}});
  const LayerId user = b.add_layer("user", "", {});
  b.add_edge(a, 0, user);
  b.add_edge(a, 1, user);
  const Graph graph = std::move(b).build();
  const std::vector<Transfer> wanted{{ValueId{0}, StageId{0}, StageId{1}, false},
                                     {ValueId{1}, StageId{0}, StageId{1}, true}};
  EXPECT_EQ(transfers_between(graph, {StageId{0}, StageId{1}}), wanted);
}

TEST(TransfersBetween, OneStageNeedsNone) {
  const Network n;
  EXPECT_TRUE(transfers_between(n.graph, std::vector<StageId>(n.graph.layers().size())).empty());
}

}  // namespace
}  // namespace pipedream::graph
