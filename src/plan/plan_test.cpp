#include "plan/plan.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "graph/graph_testing.h"

namespace pipedream::plan {
namespace {

using graph::skipping_graph;
using test::message_of;

constexpr LayerId kData{0}, kA{1}, kB{2}, kC{3};

// Returns a plan of these stages, with one worker per stage.
Plan stages_of(std::vector<std::vector<LayerId>> layers) {
  Plan plan;
  for (std::size_t s = 0; s < layers.size(); ++s)
    plan.stages.push_back({std::move(layers[s]), {id_at<WorkerId>(s)}});
  return plan;
}

std::string refused_stages(std::vector<std::vector<LayerId>> layers) {
  return message_of<BadValue>(
      [&] { (void)stage_of_each_layer(stages_of(std::move(layers)), skipping_graph()); });
}

TEST(WorkerOf, ReplicasTakeMinibatchesInTurn) {
  const Plan plan{{{{}, {WorkerId{4}, WorkerId{0}, WorkerId{2}}}, {{}, {WorkerId{1}}}}};
  std::vector<int> first;
  std::vector<int> second;
  for (std::int64_t minibatch = 0; minibatch < 7; ++minibatch) {
    first.push_back(worker_of(plan, StageId{0}, minibatch).value);
    second.push_back(worker_of(plan, StageId{1}, minibatch).value);
  }
  EXPECT_EQ(first, (std::vector{4, 0, 2, 4, 0, 2, 4}));
  EXPECT_EQ(second, (std::vector{1, 1, 1, 1, 1, 1, 1}));
}

TEST(WorkerCount, IsOneMoreThanTheHighestWorker) {
  EXPECT_EQ(worker_count({{{{}, {WorkerId{1}, WorkerId{6}}}, {{}, {WorkerId{3}}}}}), 7);
  EXPECT_EQ(worker_count({}), 0);
}

TEST(StageOfEachLayer, GivesEachLayerItsStageAndInputsStageZero) {
  EXPECT_EQ(stage_of_each_layer(stages_of({{kA}, {kB, kC}}), skipping_graph()),
            (std::vector{StageId{0}, StageId{0}, StageId{1}, StageId{1}}));
}

TEST(StageOfEachLayer, AcceptsAnInputUsedByALaterStage) {
  graph::Builder builder;
  builder.add_layer("a", "", {{"out", {}, Bytes{1}}});
  builder.add_layer("loss", "", {});
  builder.add_input("labels", {{"out", {}, Bytes{1}}});
  builder.add_edge("a", "", "loss");
  builder.add_edge("labels", "", "loss");
  EXPECT_EQ(
      stage_of_each_layer(stages_of({{LayerId{0}}, {LayerId{1}}}), std::move(builder).build()),
      (std::vector{StageId{0}, StageId{1}, StageId{0}}));
}

TEST(StageOfEachLayer, RefusesALayerInTwoStages) {
  EXPECT_EQ(refused_stages({{kA, kB}, {kB, kC}}), "layer 'b' is in two stages");
  EXPECT_EQ(refused_stages({{kA, kA}, {kB, kC}}), "layer 'a' is in two stages")
      << "or twice in one";
}

TEST(StageOfEachLayer, RefusesALayerInNoStage) {
  EXPECT_EQ(refused_stages({{kA}, {kC}}), "layer 'b' is in no stage");
  EXPECT_EQ(refused_stages({}), "layer 'a' is in no stage");
}

TEST(StageOfEachLayer, RefusesAValueThatFlowsBackwards) {
  EXPECT_EQ(refused_stages({{kB}, {kA, kC}}),
            "layer 'b' is in an earlier stage than 'a', whose output it uses");
  EXPECT_EQ(refused_stages({{kC}, {kA, kB}}),
            "layer 'c' is in an earlier stage than 'a', whose output it uses");
}

TEST(StageOfEachLayer, RefusesAnInputInAStage) {
  EXPECT_EQ(refused_stages({{kData, kA}, {kB, kC}}),
            "layer 'data' is an input and in a stage: the stages that use it read it themselves");
}

TEST(StageOfEachLayer, RefusesALayerThatDoesNotExist) {
  EXPECT_EQ(refused_stages({{kA, kB}, {kC, LayerId{4}}}),
            "stage 1 has a layer 4, but the last of the graph is 3");
  EXPECT_EQ(refused_stages({{LayerId{-1}}}),
            "stage 0 has a layer -1, but the last of the graph is 3");
}

}  // namespace
}  // namespace pipedream::plan
