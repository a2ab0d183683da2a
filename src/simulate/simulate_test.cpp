#include "simulate/simulate.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "schedule/lower.h"
#include "schedule/one_f_one_b.h"
#include "schedule/schedule_testing.h"
#include "schedule/validate.h"

namespace pipedream::simulate {
namespace {

using schedule::Backward;
using schedule::Forward;
using schedule::Pipeline;
using schedule::Program;
using Texts = std::vector<std::string>;

// Workers joined by links of one byte a nanosecond without latency.
cluster::Cluster flat_cluster(int workers) {
  return {"flat",
          {{.name = "room", .count = workers, .bandwidth = {1e9}}},
          std::vector<cluster::Device>(static_cast<std::size_t>(workers))};
}

// All layers take the same time.
profile::Profile equal_layers(const graph::Graph& graph, Nanos forward, Nanos backward) {
  profile::Profile profile{.graph = graph};
  for (const graph::Layer& layer : graph.layers())
    profile.costs.push_back(layer.is_input
                                ? profile::LayerCost{}
                                : profile::LayerCost{.forward = forward, .backward = backward});
  return profile;
}

std::vector<Program> lowered(const Pipeline& pipeline, std::int64_t minibatches) {
  return schedule::lower(schedule::one_f_one_b(pipeline.plan, minibatches), pipeline.plan,
                         pipeline.graph);
}

// 1F1B on one layer a stage; a value takes as many nanoseconds as it has bytes.
timeline::Timeline straight(int stages, std::int64_t minibatches, Nanos forward, Nanos backward,
                            Bytes value) {
  const Pipeline pipeline = schedule::straight_pipeline(stages, value);
  return simulate(lowered(pipeline, minibatches), pipeline.plan,
                  equal_layers(pipeline.graph, forward, backward), flat_cluster(stages));
}

// Each worker's events as "op start–end", in the order of the timeline.
Texts texts_of(const timeline::Timeline& timeline) {
  std::map<WorkerId, std::string> by_worker;
  for (const timeline::Event& event : timeline.events) {
    std::string& text = by_worker[event.worker];
    text += (text.empty() ? "" : ", ") + schedule::to_text(event.op) + " " +
            std::to_string(event.start.count()) + "–" + std::to_string(event.end.count());
  }
  Texts texts;
  for (const auto& [worker, text] : by_worker) texts.push_back(text);
  return texts;
}

TEST(Simulate, TwoStagesWithFreeTransfers) {
  EXPECT_EQ(
      texts_of(straight(2, 3, Nanos(10), Nanos(20), Bytes{0})),
      (Texts{"L0 0–0, F0@0 0–10, SA0#0>1 10–10, L1 10–10, F1@0 10–20, SA0#1>1 20–20, "
             "RG0#0<1 40–40, B0@0 40–60, U0>1 60–60, L2 60–60, F2@1 60–70, SA0#2>1 70–70, "
             "RG0#1<1 70–70, B1@0 70–90, U1>2 90–90, RG0#2<1 100–100, B2@1 100–120, U2>3 120–120",
             "RA0#0<0 10–10, L0 0–0, F0@0 10–20, RA0#1<0 20–20, B0@0 20–40, SG0#0>0 40–40, "
             "U0>1 40–40, L1 40–40, F1@1 40–50, RA0#2<0 70–70, B1@1 50–70, SG0#1>0 70–70, "
             "U1>2 70–70, L2 70–70, F2@2 70–80, B2@2 80–100, SG0#2>0 100–100, U2>3 100–100"}));
}

TEST(Simulate, TwoStagesWithTransfersThatTakeTime) {
  EXPECT_EQ(
      texts_of(straight(2, 3, Nanos(10), Nanos(20), Bytes{5})),
      (Texts{"L0 0–0, F0@0 0–10, SA0#0>1 10–15, L1 10–10, F1@0 10–20, SA0#1>1 20–25, "
             "RG0#0<1 45–50, B0@0 50–70, U0>1 70–70, L2 70–70, F2@1 70–80, SA0#2>1 80–85, "
             "RG0#1<1 75–80, B1@0 80–100, U1>2 100–100, RG0#2<1 115–120, B2@1 120–140, "
             "U2>3 140–140",
             "RA0#0<0 10–15, L0 0–0, F0@0 15–25, RA0#1<0 20–25, B0@0 25–45, SG0#0>0 45–50, "
             "U0>1 45–45, L1 45–45, F1@1 45–55, RA0#2<0 80–85, B1@1 55–75, SG0#1>0 75–80, "
             "U1>2 75–75, L2 75–75, F2@2 85–95, B2@2 95–115, SG0#2>0 115–120, U2>3 115–115"}));
}

TEST(Simulate, ASlowDeviceTakesLonger) {
  const Pipeline pipeline = schedule::straight_pipeline(2, Bytes{0});
  cluster::Cluster cluster = flat_cluster(2);
  cluster.devices[1].speed = 0.5;
  EXPECT_EQ(
      texts_of(simulate(lowered(pipeline, 2), pipeline.plan,
                        equal_layers(pipeline.graph, Nanos(10), Nanos(20)), cluster)),
      (Texts{"L0 0–0, F0@0 0–10, SA0#0>1 10–10, L1 10–10, F1@0 10–20, SA0#1>1 20–20, "
             "RG0#0<1 70–70, B0@0 70–90, U0>1 90–90, RG0#1<1 130–130, B1@0 130–150, U1>2 150–150",
             "RA0#0<0 10–10, L0 0–0, F0@0 10–30, RA0#1<0 20–20, B0@0 30–70, SG0#0>0 70–70, "
             "U0>1 70–70, L1 70–70, F1@1 70–90, B1@1 90–130, SG0#1>0 130–130, U1>2 130–130"}));
}

// Two values cross from worker 0 to worker 1: the second follows the first. What goes to worker 2
// meanwhile, or back, has its own link.
TEST(Simulate, TransfersOfOneOrderedPairFollowEachOther) {
  graph::Builder builder;
  builder.add_layer("a", "", {{"x", {}, Bytes{5}}, {"y", {}, Bytes{7}}});
  builder.add_layer("b", "", {{"z", {}, Bytes{1}}});
  builder.add_layer("c", "", {});
  builder.add_edge(LayerId{0}, 0, LayerId{1});
  builder.add_edge(LayerId{0}, 1, LayerId{1});
  builder.add_edge(LayerId{0}, 0, LayerId{2});
  builder.add_edge(LayerId{1}, 0, LayerId{2});
  const Pipeline pipeline{std::move(builder).build(), schedule::straight_pipeline(3).plan};
  EXPECT_EQ(texts_of(simulate(lowered(pipeline, 1), pipeline.plan,
                              equal_layers(pipeline.graph, Nanos(10), Nanos(20)), flat_cluster(3))),
            (Texts{"F0@0 0–10, SA0#0>1 10–15, SA0#0>2 10–15, SA1#0>1 15–22, RG0#0<2 63–68, "
                   "RG0#0<1 84–89, RG1#0<1 89–96, B0@0 96–116, U0>1 116–116",
                   "RA0#0<0 10–15, RA1#0<0 15–22, F0@0 22–32, SA2#0>2 32–33, RG2#0<2 63–64, "
                   "B0@0 64–84, SG0#0>0 84–89, SG1#0>0 89–96, U0>1 84–84",
                   "RA0#0<0 10–15, RA2#0<1 32–33, F0@0 33–43, B0@0 43–63, SG0#0>0 63–68, "
                   "SG2#0>1 63–64, U0>1 63–63"}));
}

// Stages 1 and 2 on worker 1 both take value 0 of worker 0, and give back a gradient each.
TEST(Simulate, TwoStagesOfOneWorkerMayTakeTheSameValue) {
  graph::Builder builder;
  for (const char* name : {"a", "b", "c"}) builder.add_layer(name, "", {{"out", {}, Bytes{5}}});
  builder.add_edge("a", "", "b");
  builder.add_edge("a", "", "c");
  builder.add_edge("b", "", "c");
  Pipeline pipeline{std::move(builder).build(), schedule::straight_pipeline(3).plan};
  pipeline.plan.stages[2].workers = {WorkerId{1}};
  const auto forward = [](int stage) { return Forward{StageId{stage}, {0, 0}, {0}}; };
  const auto backward = [](int stage) { return Backward{StageId{stage}, {0, 0}, {0}}; };
  const auto programs =
      schedule::lower({{WorkerId{0}, {forward(0), backward(0)}},
                       {WorkerId{1}, {forward(1), forward(2), backward(2), backward(1)}}},
                      pipeline.plan, pipeline.graph);
  EXPECT_EQ(texts_of(simulate(programs, pipeline.plan,
                              equal_layers(pipeline.graph, Nanos(10), Nanos(20)), flat_cluster(2))),
            (Texts{"F0@0 0–10, SA0#0>1 10–15, SA0#0>1 15–20, RG0#0<1 60–65, RG0#0<1 80–85, "
                   "B0@0 85–105",
                   "RA0#0<0 10–15, RA0#0<0 15–20, F0@0 20–30, F0@0 30–40, B0@0 40–60, "
                   "SG0#0>0 60–65, B0@0 60–80, SG0#0>0 80–85"}));
}

TEST(Simulate, NothingTakesNoTime) {
  EXPECT_EQ(straight(2, 0, Nanos(10), Nanos(20), Bytes{5}), timeline::Timeline{});
}

TEST(Simulate, EqualArgumentsGiveEqualTimelines) {
  const auto once = straight(4, 12, Nanos(10), Nanos(17), Bytes{3});
  EXPECT_EQ(straight(4, 12, Nanos(10), Nanos(17), Bytes{3}), once);
  EXPECT_NE(straight(4, 12, Nanos(10), Nanos(18), Bytes{3}), once) << "and others do not";
}

// The order in which programs are listed decides the order of the events, not their times.
TEST(Simulate, TheOrderOfProgramsChangesNoTime) {
  const Pipeline pipeline = schedule::straight_pipeline(3, Bytes{4});
  const auto profile = equal_layers(pipeline.graph, Nanos(10), Nanos(20));
  std::vector<Program> programs = lowered(pipeline, 5);
  const Texts once = texts_of(simulate(programs, pipeline.plan, profile, flat_cluster(3)));
  std::reverse(programs.begin(), programs.end());
  EXPECT_EQ(texts_of(simulate(programs, pipeline.plan, profile, flat_cluster(3))), once);
}

// SYSTEMS §1: a whole run of N minibatches on S equal stages takes N + S − 1 steps of F + B, and
// stands still for (S − 1)/(N + S − 1) of the time.
TEST(Simulate, StraightPipelinesHaveTheLengthAndIdleShareOfTheClosedForm) {
  for (const auto& [forward, backward] : {std::pair{10, 20}, {7, 7}, {20, 3}, {1, 100}}) {
    for (int stages = 1; stages <= 6; ++stages) {
      for (std::int64_t minibatches = 1; minibatches <= 12; ++minibatches) {
        SCOPED_TRACE(testing::Message() << "F " << forward << ", B " << backward << ", S " << stages
                                        << ", N " << minibatches);
        const auto timeline =
            straight(stages, minibatches, Nanos(forward), Nanos(backward), Bytes{0});
        const std::int64_t steps = minibatches + stages - 1;
        EXPECT_EQ(length(timeline), Nanos(steps * (forward + backward)));
        for (int worker = 0; worker < stages; ++worker) {
          const Nanos idle = length(timeline) - compute_time(timeline, WorkerId{worker});
          EXPECT_EQ(idle * steps, length(timeline) * (stages - 1));
        }
      }
    }
  }
}

// SYSTEMS §1: the first stage has S minibatches in flight, so S of them take at least one trip of a
// minibatch through all stages and back, transfers included: S·(F + B) + 2·(S − 1)·transfer.
TEST(Simulate, TransfersHoldTheSteadyPeriodAtTheLoopLimit) {
  constexpr std::int64_t kForward = 10, kBackward = 20, kTransfer = 10, kMinibatches = 60;
  std::vector<Nanos> loops;
  for (int stages = 1; stages <= 6; ++stages) {
    const auto timeline =
        straight(stages, kMinibatches, Nanos(kForward), Nanos(kBackward), Bytes{kTransfer});
    std::map<std::int64_t, Nanos> starts;  // of the first stage's forwards
    for (const timeline::Event& event : timeline.events)
      if (const auto* forward = std::get_if<Forward>(&event.op);
          forward != nullptr && forward->stage == StageId{0})
        starts[forward->item.minibatch] = event.start;
    const Nanos loop = starts.at(20 + stages) - starts.at(20);
    for (std::int64_t b = 20; b + stages < kMinibatches; ++b)
      EXPECT_EQ(starts.at(b + stages) - starts.at(b), loop) << stages << " stages, minibatch " << b;
    loops.push_back(loop);
  }
  std::vector<Nanos> wanted;
  for (int stages = 1; stages <= 6; ++stages)
    wanted.push_back(Nanos(stages * (kForward + kBackward) + 2 * (stages - 1) * kTransfer));
  EXPECT_EQ(loops, wanted);
  EXPECT_EQ(loops[3], Nanos(4 * 45)) << "SYSTEMS: 4.5 where F = 1, B = 2, transfer 1";
}

TEST(SimulateDeathTest, ProgramsThatWaitForEverAreABugOfTheCaller) {
  const Pipeline pipeline = schedule::straight_pipeline(2);
  std::vector<Program> programs = lowered(pipeline, 1);
  programs[0].ops.clear();
  ASSERT_FALSE(schedule::validate(programs).empty());
  EXPECT_DEATH((void)simulate(programs, pipeline.plan,
                              equal_layers(pipeline.graph, Nanos(1), Nanos(1)), flat_cluster(2)),
               "next_\\[p\\] == programs_\\[p\\].ops.size\\(\\)");
}

}  // namespace
}  // namespace pipedream::simulate
