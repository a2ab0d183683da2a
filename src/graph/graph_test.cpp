#include "graph/graph.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"

namespace pipedream::graph {
namespace {

using test::message_of;

std::vector<Builder::Output> one(std::int64_t bytes) { return {{"out", {}, Bytes{bytes}}}; }

std::string order_of(const Graph& graph) {
  std::string names;
  for (const LayerId id : graph.order()) names += graph.layer(id).name + " ";
  return names;
}

// Returns the message of the BadValue that the builder throws in `make` or in build().
template <class Make>
std::string refusal(Make make) {
  return message_of<BadValue>([&] {
    Builder builder;
    make(builder);
    (void)std::move(builder).build();
  });
}

TEST(Graph, GivesBackLayersValuesAndEdges) {
  Builder builder;
  const LayerId data = builder.add_input("data", one(8));
  const LayerId split =
      builder.add_layer("split", "Split", {{"left", {2, 3}, Bytes{24}}, {"right", {}, Bytes{4}}});
  const LayerId join = builder.add_layer("join", "Add", {});
  builder.add_edge(data, 0, split);
  builder.add_edge(split, 1, join);
  builder.add_edge("split", "left", "join");
  const Graph graph = std::move(builder).build();

  EXPECT_TRUE(graph.layer(data).is_input);
  EXPECT_EQ(graph.layer(data).kind, "Input");
  EXPECT_FALSE(graph.layer(split).is_input);
  EXPECT_EQ(graph.layer(split).kind, "Split");
  ASSERT_EQ(graph.layer(split).outputs.size(), 2U);
  const ValueId left = graph.layer(split).outputs[0];
  const ValueId right = graph.layer(split).outputs[1];
  EXPECT_EQ(graph.value(left).name, "left");
  EXPECT_EQ(graph.value(left).producer, split);
  EXPECT_EQ(graph.value(left).shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(graph.value(left).bytes.count, 24);
  EXPECT_EQ(graph.layer(join).inputs, (std::vector{right, left})) << "in the order of the edges";
  EXPECT_EQ(graph.value(left).consumers, std::vector{join});
}

TEST(Graph, FindsLayersByName) {
  Builder builder;
  builder.add_layer("a", "", {});
  const LayerId b = builder.add_layer("b", "", {});
  const Graph graph = std::move(builder).build();
  EXPECT_EQ(graph.find("b"), b);
  EXPECT_EQ(graph.find("c"), std::nullopt);
}

TEST(Graph, ConsumersAscendWhateverTheOrderOfTheEdges) {
  Builder builder;
  const LayerId a = builder.add_layer("a", "", one(1));
  const LayerId b = builder.add_layer("b", "", one(1));
  const LayerId c = builder.add_layer("c", "", one(1));
  builder.add_edge(a, 0, c);
  builder.add_edge(a, 0, b);
  EXPECT_EQ(std::move(builder).build().values()[0].consumers, (std::vector{b, c}));
}

//   a → b → d → e,  a → c → d,  a → e (a skip over everything)
TEST(Order, KeepsADeclarationOrderThatIsTopological) {
  Builder builder;
  for (const char* name : {"a", "c", "b", "d", "e"}) builder.add_layer(name, "", one(1));
  for (const auto& [from, to] :
       {std::pair{"a", "e"}, {"d", "e"}, {"c", "d"}, {"b", "d"}, {"a", "b"}, {"a", "c"}})
    builder.add_edge(from, "", to);
  EXPECT_EQ(order_of(std::move(builder).build()), "a c b d e ");
}

TEST(Order, PutsProducersFirstAndAmongReadyLayersTheFirstDeclared) {
  Builder builder;
  for (const char* name : {"end", "late", "early", "free"}) builder.add_layer(name, "", one(1));
  builder.add_edge("late", "", "end");
  builder.add_edge("early", "", "late");
  EXPECT_EQ(order_of(std::move(builder).build()), "early late end free ");
}

TEST(Order, AnEmptyGraphHasAnEmptyOrder) {
  const Graph graph = Builder().build();
  EXPECT_TRUE(graph.order().empty());
  EXPECT_TRUE(graph.layers().empty());
}

TEST(Order, ALayerMayTakeTwoOutputsOfTheSameProducer) {
  Builder builder;
  builder.add_layer("to", "", {});
  builder.add_layer("from", "", {{"x", {}, Bytes{1}}, {"y", {}, Bytes{1}}});
  builder.add_edge("from", "x", "to");
  builder.add_edge("from", "y", "to");
  EXPECT_EQ(order_of(std::move(builder).build()), "from to ");
}

TEST(Builder, NamesTheLayersOfACycle) {
  EXPECT_EQ(refusal([](Builder& b) {
              for (const char* name : {"end", "start", "x", "y", "z"})
                b.add_layer(name, "", one(1));
              b.add_edge("start", "", "x");
              b.add_edge("x", "", "y");
              b.add_edge("y", "", "z");
              b.add_edge("z", "", "x");
              b.add_edge("z", "", "end");  // after the cycle, not part of it
            }),
            "the layers form a cycle: 'z' → 'x' → 'y' → 'z'");
}

TEST(Builder, RefusesALayerThatFeedsItself) {
  EXPECT_EQ(refusal([](Builder& b) {
              b.add_layer("a", "", one(1));
              b.add_edge("a", "", "a");
            }),
            "the layers form a cycle: 'a' → 'a'");
}

TEST(Builder, CutsTheDescriptionOfALongCycle) {
  const auto message = refusal([](Builder& b) {
    for (int i = 0; i < 1000; ++i) b.add_layer("layer" + std::to_string(i), "", one(1));
    for (int i = 0; i < 1000; ++i) b.add_edge(LayerId{i}, 0, LayerId{(i + 1) % 1000});
  });
  EXPECT_EQ(message.find("the layers form a cycle: 'layer0' → 'layer1' → 'layer2'"), 0U) << message;
  EXPECT_TRUE(message.ends_with(" → …")) << message;
  EXPECT_LT(message.size(), 500U);
}

TEST(Builder, NamesAnEdgeThatLeadsNowhere) {
  EXPECT_EQ(refusal([](Builder& b) {
              b.add_layer("a", "", one(1));
              b.add_edge("a", "", "b");
            }),
            "an edge names the layer 'b', which does not exist");
  EXPECT_EQ(refusal([](Builder& b) {
              b.add_layer("b", "", one(1));
              b.add_edge("a", "", "b");
            }),
            "an edge names the layer 'a', which does not exist");
}

TEST(Builder, RefusesTheSameEdgeTwice) {
  EXPECT_EQ(refusal([](Builder& b) {
              for (const char* name : {"a", "b", "c"}) b.add_layer(name, "", one(1));
              b.add_edge("a", "", "b");
              b.add_edge("a", "", "c");
              b.add_edge("a", "out", "b");
            }),
            "there are two edges from 'a' to 'b'");
}

TEST(Builder, RefusesAnEdgeIntoAnInput) {
  EXPECT_EQ(refusal([](Builder& b) {
              b.add_layer("a", "", one(1));
              b.add_input("data", one(1));
              b.add_edge("a", "", "data");
            }),
            "an edge leads from 'a' into the input layer 'data'");
}

TEST(Builder, RefusesEmptyAndRepeatedNames) {
  EXPECT_EQ(refusal([](Builder& b) { b.add_layer("", "", one(1)); }), "a layer has an empty name");
  EXPECT_EQ(refusal([](Builder& b) {
              b.add_layer("a", "", one(1));
              b.add_input("a", one(1));
            }),
            "two layers are named 'a'");
  EXPECT_EQ(refusal([](Builder& b) {
              b.add_layer("a", "", {{"x", {}, Bytes{1}}, {"y", {}, {}}, {"x", {}, Bytes{2}}});
            }),
            "layer 'a' has two outputs named 'x'");
  EXPECT_EQ(refusal([](Builder& b) {
              b.add_layer("a", "", {{"", {}, Bytes{1}}});
            }),
            "layer 'a' has an output with an empty name");
}

TEST(Builder, AnEdgeMustSayWhichOfSeveralOutputsItTakes) {
  const auto two = [](Builder& b) {
    b.add_layer("a", "", {{"x", {}, Bytes{1}}, {"y", {}, Bytes{1}}});
    b.add_layer("b", "", {});
  };
  EXPECT_EQ(refusal([&](Builder& b) {
              two(b);
              b.add_edge("a", "", "b");
            }),
            "the edge from 'a' to 'b' must say which of the 2 outputs it takes");
  EXPECT_EQ(refusal([&](Builder& b) {
              two(b);
              b.add_edge("a", "z", "b");
            }),
            "layer 'a' has no output named 'z'");
  EXPECT_EQ(refusal([&](Builder& b) {
              two(b);
              b.add_edge("b", "", "a");
            }),
            "the edge from 'b' to 'a' must say which of the 0 outputs it takes");
}

// A chain with skip connections, declared backwards, so that sorting has to reverse all of it.
TEST(Builder, BuildsAHundredThousandLayers) {
  constexpr int kCount = 100'000;
  Builder builder;
  for (int i = 0; i < kCount; ++i) builder.add_layer("layer" + std::to_string(i), "", one(i));
  for (int i = 1; i < kCount; ++i) builder.add_edge(LayerId{i}, 0, LayerId{i - 1});
  for (int i = 10; i < kCount; i += 3) builder.add_edge(LayerId{i}, 0, LayerId{i - 10});
  const Graph graph = std::move(builder).build();
  ASSERT_EQ(graph.order().size(), std::size_t{kCount});
  for (int p = 0; p < kCount; ++p)
    ASSERT_EQ(graph.order()[static_cast<std::size_t>(p)], LayerId{kCount - 1 - p});
  EXPECT_EQ(graph.find("layer99999"), LayerId{99'999});
}

}  // namespace
}  // namespace pipedream::graph
