#include "runtime/gradient_order.h"

#include <gtest/gtest.h>

namespace pipedream::runtime {
namespace {

// A layer `a` makes a value that the layers u0 … u(users − 1) use. They also use the value of an
// input layer `data`.
graph::Graph fan(int users) {
  graph::Builder builder;
  const LayerId a = builder.add_layer("a", "", {{"out", {}, Bytes{1}}});
  std::vector<LayerId> all;
  for (int i = 0; i < users; ++i) {
    all.push_back(builder.add_layer("u" + std::to_string(i), "", {{"out", {}, Bytes{1}}}));
    builder.add_edge(a, 0, all.back());
  }
  const LayerId data = builder.add_input("data", {{"out", {}, Bytes{1}}});
  for (const LayerId user : all) builder.add_edge(data, 0, user);
  return std::move(builder).build();
}

// `numbers` has the stages of `a` and its users. The input layer gets stage 0, which is ignored.
std::vector<StageId> stages(const std::vector<int>& numbers) {
  std::vector<StageId> ids;
  for (const int number : numbers) ids.push_back({number});
  ids.push_back({0});
  return ids;
}

// The terms of the value that `a` makes, such as "1:u3,u2 0:u1": stage, colon, layers.
std::string terms_of(const graph::Graph& graph, const GradientOrder& order) {
  std::string text;
  for (const GradientOrder::Term& term : order.terms(graph.layer({0}).outputs[0])) {
    text += (text.empty() ? "" : " ") + std::to_string(term.stage.value) + ":";
    for (std::size_t i = 0; i < term.layers.size(); ++i)
      text += (i == 0 ? "" : ",") + graph.layer(term.layers[i]).name;
  }
  return text;
}

TEST(GradientOrder, TheLastLayersGradientComesFirst) {
  const graph::Graph graph = fan(3);
  const GradientOrder order(graph, stages({0, 0, 0, 0}));
  EXPECT_EQ(terms_of(graph, order), "0:u2,u1,u0");
  EXPECT_FALSE(order.is_mixed({0}));
}

TEST(GradientOrder, OnlyTheStageWithWhichTheSumBeginsAddsUp) {
  const graph::Graph graph = fan(5);
  const GradientOrder order(graph, stages({0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(terms_of(graph, order), "2:u4,u3 1:u2 1:u1 0:u0");
  EXPECT_EQ(order.terms_from({0}, {0}), 1u);
  EXPECT_EQ(order.terms_from({0}, {1}), 2u);
  EXPECT_EQ(order.terms_from({0}, {2}), 1u);
  EXPECT_EQ(order.terms_from({0}, {3}), 0u);
  EXPECT_FALSE(order.is_mixed({0}));
}

TEST(GradientOrder, IsMixedWhereAnotherStagesTermComesAfterOneOfTheProducers) {
  const graph::Graph graph = fan(3);
  const GradientOrder order(graph, stages({0, 0, 1, 0}));
  EXPECT_EQ(terms_of(graph, order), "0:u2 1:u1 0:u0");
  EXPECT_TRUE(order.is_mixed({0}));
  EXPECT_FALSE(GradientOrder(graph, stages({0, 0, 1, 1})).is_mixed({0}));
  EXPECT_FALSE(GradientOrder(graph, stages({0, 1, 2, 1})).is_mixed({0}));
}

TEST(GradientOrder, WhatIsReadFromTheDataSetHasNoGradients) {
  const graph::Graph graph = fan(3);
  const GradientOrder order(graph, stages({0, 0, 1, 0}));
  const ValueId data = graph.layer(graph.find("data").value()).outputs[0];
  EXPECT_TRUE(order.terms(data).empty());
  EXPECT_FALSE(order.is_mixed(data));
}

}  // namespace
}  // namespace pipedream::runtime
