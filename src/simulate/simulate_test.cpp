#include "simulate/simulate.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "schedule/asynchronous.h"
#include "schedule/bulk_synchronous.h"
#include "schedule/dapple.h"
#include "schedule/gpipe.h"
#include "schedule/interleaved.h"
#include "simulate/simulate_testing.h"

namespace pipedream::simulate {
namespace {

using schedule::Backward;
using schedule::BackwardPart;
using schedule::Forward;
using schedule::Item;
using schedule::Op;
using schedule::Pipeline;
using schedule::plan_of;
using schedule::Program;
using schedule::whole_minibatches;
using Texts = std::vector<std::string>;

std::string text_of(const timeline::Event& event, bool with_stage) {
  return schedule::to_text(event.op, with_stage) + " " + std::to_string(event.start.count()) + "–" +
         std::to_string(event.end.count());
}

// Returns one text per worker, with its events as "op start–end". First come the events on the
// compute lane in their order, then, after a bar, all other events sorted by end.
Texts texts_of(timeline::Timeline timeline, bool with_stage = false) {
  std::stable_sort(timeline.events.begin(), timeline.events.end(),
                   [](const timeline::Event& a, const timeline::Event& b) {
                     if (timeline::on_compute_lane(a.op) || timeline::on_compute_lane(b.op))
                       return timeline::on_compute_lane(a.op) && !timeline::on_compute_lane(b.op);
                     return std::pair(a.end, a.start) < std::pair(b.end, b.start);
                   });
  std::map<WorkerId, std::pair<std::string, std::string>> by_worker;
  for (const timeline::Event& event : timeline.events) {
    auto& [compute, other] = by_worker[event.worker];
    std::string& text = timeline::on_compute_lane(event.op) ? compute : other;
    text += (text.empty() ? "" : ", ") + text_of(event, with_stage);
  }
  Texts texts;
  for (const auto& [worker, text] : by_worker)
    texts.push_back(text.second.empty() ? text.first : text.first + " | " + text.second);
  return texts;
}

// Simulates 1F1B on stages of one layer each. The first and the last stage read data. The transfer
// of a value of n bytes takes n nanoseconds.
timeline::Timeline straight(int stages, std::int64_t minibatches, Times times, Bytes value) {
  const Pipeline pipeline = schedule::straight_pipeline(stages, value);
  return run(one_f_one_b(pipeline, minibatches), case_of(pipeline, times)).timeline;
}

TEST(Simulate, TwoStagesWithFreeTransfers) {
  EXPECT_EQ(texts_of(straight(2, 3, {10, 20}, Bytes{0})),
            (Texts{"F0@0 0–10, F1@0 10–20, B0@0 40–60, U0>1 60–60, F2@1 60–70, B1@0 70–90, "
                   "U1>2 90–90, B2@1 100–120, U2>3 120–120"
                   " | L0 0–0, L1 0–0, L2 0–0, SA0#0>1 10–10, SA0#1>1 20–20, RG0#0<1 40–40, "
                   "SA0#2>1 70–70, RG0#1<1 70–70, RG0#2<1 100–100",
                   "F0@0 10–20, B0@0 20–40, U0>1 40–40, F1@1 40–50, B1@1 50–70, U1>2 70–70, "
                   "F2@2 70–80, B2@2 80–100, U2>3 100–100"
                   " | L0 0–0, L1 0–0, RA0#0<0 10–10, L2 10–10, RA0#1<0 20–20, SG0#0>0 40–40, "
                   "RA0#2<0 70–70, SG0#1>0 70–70, SG0#2>0 100–100"}));
}

TEST(Simulate, TwoStagesWithTransfersThatTakeTime) {
  EXPECT_EQ(texts_of(straight(2, 3, {10, 20}, Bytes{5})),
            (Texts{"F0@0 0–10, F1@0 10–20, B0@0 50–70, U0>1 70–70, F2@1 70–80, B1@0 80–100, "
                   "U1>2 100–100, B2@1 120–140, U2>3 140–140"
                   " | L0 0–0, L1 0–0, L2 0–0, SA0#0>1 10–15, SA0#1>1 20–25, RG0#0<1 45–50, "
                   "RG0#1<1 75–80, SA0#2>1 80–85, RG0#2<1 115–120",
                   "F0@0 15–25, B0@0 25–45, U0>1 45–45, F1@1 45–55, B1@1 55–75, U1>2 75–75, "
                   "F2@2 85–95, B2@2 95–115, U2>3 115–115"
                   " | L0 0–0, L1 0–0, RA0#0<0 10–15, L2 15–15, RA0#1<0 20–25, SG0#0>0 45–50, "
                   "SG0#1>0 75–80, RA0#2<0 80–85, SG0#2>0 115–120"}));
}

// A value leaves when the last byte of the value before it has left. Each arrives a latency later.
TEST(Simulate, ALatencyDelaysWithoutFillingTheLink) {
  Case with = chain_case(plan_of({1, 1}, {3, 1}), {{1, 1}, {1, 1}}, Bytes{10});
  with.cluster = room(2, Nanos(100));
  const auto timeline = run(one_f_one_b(with.plan, whole_minibatches(with.plan, 3)), with).timeline;
  EXPECT_EQ(texts_of(timeline).back(),
            "F0@0 111–112, B0@0 112–113, U0>1 113–113, F1@1 121–122, B1@1 122–123, U1>2 123–123, "
            "F2@2 131–132, B2@2 132–133, U2>3 133–133"
            " | RA0#0<0 1–111, RA0#1<0 11–121, RA0#2<0 21–131, SG0#0>0 113–223, SG0#1>0 123–233, "
            "SG0#2>0 133–243");
}

TEST(Simulate, ASlowDeviceTakesLonger) {
  Case with = equal_stages(2, {10, 20});
  with.cluster.devices[1].speed = 0.5;
  EXPECT_EQ(texts_of(run(one_f_one_b(with.plan, whole_minibatches(with.plan, 2)), with).timeline),
            (Texts{"F0@0 0–10, F1@0 10–20, B0@0 70–90, U0>1 90–90, B1@0 130–150, U1>2 150–150"
                   " | SA0#0>1 10–10, SA0#1>1 20–20, RG0#0<1 70–70, RG0#1<1 130–130",
                   "F0@0 10–30, B0@0 30–70, U0>1 70–70, F1@1 70–90, B1@1 90–130, U1>2 130–130"
                   " | RA0#0<0 10–10, RA0#1<0 20–20, SG0#0>0 70–70, SG0#1>0 130–130"}));
}

// Two values cross from worker 0 to worker 1, the second after the first. A value to worker 2
// shares the sender's link with the first: 5 bytes each move at half the speed, then the 7 bytes of
// the second move alone. The gradients that worker 2 sends to workers 0 and 1 share its link in the
// same way.
TEST(Simulate, TransfersOfOneOrderedPairFollowEachOtherAndOthersShareTheLink) {
  graph::Builder builder;
  builder.add_layer("a", "", {{"x", {}, Bytes{5}}, {"y", {}, Bytes{7}}});
  builder.add_layer("b", "", {{"z", {}, Bytes{1}}});
  builder.add_layer("c", "", {});
  builder.add_edge(LayerId{0}, 0, LayerId{1});
  builder.add_edge(LayerId{0}, 1, LayerId{1});
  builder.add_edge(LayerId{0}, 0, LayerId{2});
  builder.add_edge(LayerId{1}, 0, LayerId{2});
  const Pipeline pipeline{std::move(builder).build(), schedule::straight_pipeline(3).plan};
  EXPECT_EQ(texts_of(run(one_f_one_b(pipeline, 1), case_of(pipeline, {10, 20})).timeline),
            (Texts{"F0@0 0–10, B0@0 102–122, U0>1 122–122"
                   " | SA0#0>1 10–20, SA0#0>2 10–20, SA1#0>1 20–27, RG0#0<2 68–74, RG0#0<1 90–95, "
                   "RG1#0<1 95–102",
                   "F0@0 27–37, B0@0 70–90, U0>1 90–90"
                   " | RA0#0<0 10–20, RA1#0<0 20–27, SA2#0>2 37–38, RG2#0<2 68–70, SG0#0>0 90–95, "
                   "SG1#0>0 95–102",
                   "F0@0 38–48, B0@0 48–68, U0>1 68–68"
                   " | RA0#0<0 10–20, RA2#0<1 37–38, SG2#0>1 68–70, SG0#0>0 68–74"}));
}

// Stages 1 and 2, both on worker 1, take value 0 of worker 0. Each of them sends a gradient back.
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
  const auto written =
      schedule::schedule_of({{WorkerId{0}, {forward(0), backward(0)}},
                             {WorkerId{1}, {forward(1), forward(2), backward(2), backward(1)}}});
  EXPECT_EQ(texts_of(run(written, case_of(pipeline, {10, 20})).timeline, true),
            (Texts{"0:F0@0 0–10, 0:B0@0 80–100"
                   " | SA0#0>1 10–15, SA0#0>1 15–20, RG0#0<1 55–60, RG0#0<1 75–80",
                   "1:F0@0 15–25, 2:F0@0 25–35, 2:B0@0 35–55, 1:B0@0 55–75"
                   " | RA0#0<0 10–15, RA0#0<0 15–20, SG0#0>0 55–60, SG0#0>0 75–80"}));
}

TEST(Simulate, RecomputingBeginsWhenTheGradientIsThere) {
  Case with = equal_stages(2, {10, 20}, 1);
  for (plan::Stage& stage : with.plan.stages) stage.recompute = true;
  EXPECT_EQ(texts_of(run(gpipe(with.plan, whole_minibatches(with.plan, 1)), with).timeline),
            (Texts{"F0@0 0–10, C0@0 50–60, B0@0 60–80, U0>1 80–80 | SA0#0>1 10–10, RG0#0<1 50–50",
                   "F0@0 10–20, C0@0 20–30, B0@0 30–50, U0>1 50–50"
                   " | RA0#0<0 10–10, SG0#0>0 50–50"}));
}

// The input gradient takes half of a backward. The stage before does not wait for the other half.
TEST(Simulate, ASplitBackwardSendsItsGradientAfterItsFirstHalf) {
  const Case with = equal_stages(2, {10, 21});
  const auto op = [](int stage, BackwardPart part) {
    return Op(Backward{StageId{stage}, {0, 0}, {0}, part});
  };
  const auto written = schedule::schedule_of(
      {{WorkerId{0}, {Forward{StageId{0}, {0, 0}, {0}}, op(0, BackwardPart::kFull)}},
       {WorkerId{1},
        {Forward{StageId{1}, {0, 0}, {0}}, op(1, BackwardPart::kInput),
         op(1, BackwardPart::kWeight)}}});
  EXPECT_EQ(texts_of(run(written, with).timeline),
            (Texts{"F0@0 0–10, B0@0 30–51 | SA0#0>1 10–10, RG0#0<1 30–30",
                   "F0@0 10–20, b0@0 20–30, w0@0 30–41 | RA0#0<0 10–10, SG0#0>0 30–30"}));
}

// Three workers average 12 bytes of weights: each sends 2·2/3·12 = 16 bytes.
TEST(Simulate, DataParallelismAveragesWhatItsBackwardReleases) {
  const Case with = chain_case(plan_of({3}), {{10, 20}}, Bytes{0}, Nanos(0), Bytes{12});
  const auto timeline =
      run(bulk_synchronous(with.plan, whole_minibatches(with.plan, 5)), with).timeline;
  EXPECT_EQ(texts_of(timeline),
            (Texts{"F0@0 0–10, B0@0 10–30, A1 46–46, U0>1 46–46, F3@1 46–56, B3@1 56–76, A2 92–92, "
                   "U1>2 92–92 | X1 30–46, X2 76–92",
                   "F1@0 0–10, B1@0 10–30, A1 46–46, U0>1 46–46, F4@1 46–56, B4@1 56–76, A2 92–92, "
                   "U1>2 92–92 | X1 30–46, X2 76–92",
                   "F2@0 0–10, B2@0 10–30, A1 46–46, U0>1 46–46, A2 92–92, U1>2 92–92"
                   " | X1 30–46, X2 76–92"}))
      << "the last round has no minibatch for worker 2, which takes part all the same";
}

// Two layers fill one bucket each. The second layer's bucket is averaged while the backward of the
// first layer runs. A bucket has 26,214,400 bytes; at 1 byte/ns two workers average it in
// 26,214,400 ns.
TEST(Simulate, BucketsAreAveragedWhileTheBackwardStillRuns) {
  constexpr std::int64_t kBucket = 25 << 20;
  graph::Builder builder;
  builder.add_layer("a", "", {{"x", {}, Bytes{0}}});
  builder.add_layer("b", "", {{"x", {}, Bytes{0}}});
  builder.add_edge(LayerId{0}, 0, LayerId{1});
  Case with{plan_of({2}), {}, room(2)};
  with.plan.stages[0].layers = {LayerId{0}, LayerId{1}};
  with.profile.graph = std::move(builder).build();
  const auto layer = [&](std::int64_t backward) {
    return profile::LayerCost{
        .forward = Nanos(1000), .backward = Nanos(backward), .weights = Bytes{kBucket}};
  };
  const auto length_with = [&](std::int64_t first, std::int64_t second) {
    with.profile.costs = {layer(first), layer(second)};
    return length(run(bulk_synchronous(with.plan, whole_minibatches(with.plan, 2)), with).timeline);
  };
  EXPECT_EQ(length_with(3 * kBucket, kBucket), Nanos(2000 + 4 * kBucket + kBucket))
      << "the first is hidden";
  EXPECT_EQ(length_with(10, 10), Nanos(2000 + 10 + 2 * kBucket)) << "hardly anything is";
}

// Two workers have 12 bytes of weights. At the end of its backward each pushes 6 bytes to the
// other, and then fetches 6 bytes. Worker 1 takes four times as long to compute, but worker 0
// neither waits for it nor is slowed down.
TEST(Simulate, AsynchronousWorkersDoNotWaitForEachOther) {
  Case with = chain_case(plan_of({2}), {{10, 20}}, Bytes{0}, Nanos(0), Bytes{12});
  with.cluster.devices[1].speed = 0.25;
  const auto timeline =
      run(asynchronous(with.plan, whole_minibatches(with.plan, 4)), with).timeline;
  EXPECT_EQ(texts_of(timeline), (Texts{"F0@0 0–10, B0@0 10–30, F2@1 42–52, B2@1 52–72"
                                       " | P0 30–36, G1 36–42, P2 72–78, G2 78–84",
                                       "F1@0 0–40, B1@0 40–120, F3@1 132–172, B3@1 172–252"
                                       " | P1 120–126, G1 126–132, P3 252–258, G2 258–264"}));
  for (const timeline::Event& event : timeline.events)
    if (const auto* forward = std::get_if<Forward>(&event.op)) {
      EXPECT_EQ(event.transfer, Nanos(forward->item.minibatch < 2 ? 0 : 12));
    }
}

// Stage 0 has two replicas and no weights, so its averagings move nothing. They begin with the
// backward, which waits for its gradient one latency longer than the gradient is on the link.
TEST(Simulate, AnAverageOfNothingDelaysNoTransfer) {
  const Case with = chain_case(plan_of({2, 1}, {2, 1}), {{20, 40}, {10, 20}}, Bytes{5}, Nanos(100));
  const auto timeline =
      run(one_f_one_b(with.plan, whole_minibatches(with.plan, 12)), with).timeline;
  for (const timeline::Event& event : timeline.events)
    if (const auto* send = std::get_if<schedule::Send>(&event.op);
        send != nullptr && send->kind == schedule::Kind::kGradient) {  // never two at once
      EXPECT_EQ(event.end - event.start, Nanos(105)) << text_of(event, false);
    }
}

TEST(Simulate, NothingTakesNoTime) {
  EXPECT_EQ(straight(2, 0, {10, 20}, Bytes{5}), timeline::Timeline{});
}

TEST(Simulate, EqualArgumentsGiveEqualTimelines) {
  const auto once = straight(4, 12, {10, 17}, Bytes{3});
  EXPECT_EQ(straight(4, 12, {10, 17}, Bytes{3}), once);
  EXPECT_NE(straight(4, 12, {10, 18}, Bytes{3}), once) << "and others do not";
}

TEST(Simulate, TheOrderOfProgramsChangesNoTime) {
  const Case with = chain_case(plan_of({1, 2, 1}, {4, 2, 1}), {{10, 20}, {30, 30}, {10, 20}},
                               Bytes{4}, Nanos(3), Bytes{7});
  schedule::Schedule schedule = one_f_one_b(with.plan, whole_minibatches(with.plan, 8));
  const Texts once = texts_of(run(schedule, with).timeline);
  std::reverse(schedule.generators.begin(), schedule.generators.end());
  EXPECT_EQ(texts_of(run(schedule, with).timeline), once);
}

TEST(Simulate, CountsTheOpsOfTheCompletePrograms) {
  const Pipeline pipeline = schedule::straight_pipeline(2);
  std::int64_t ops = 0;
  for (const Program& program : schedule::lower(one_f_one_b(pipeline, 5), pipeline))
    ops += static_cast<std::int64_t>(program.ops.size());
  EXPECT_EQ(run(one_f_one_b(pipeline, 5), case_of(pipeline, {1, 1})).result.ops, ops);
}

// An event on the compute lane says why its worker was idle before it.
TEST(Simulate, AnOpThatWaitedSaysHowLongItsValueWasOnItsWay) {
  const Case with = chain_case(plan_of({1, 1}, {2, 1}), {{10, 20}, {10, 20}}, Bytes{5});
  const auto timeline = run(one_f_one_b(with.plan, whole_minibatches(with.plan, 1)), with).timeline;
  for (const timeline::Event& event : timeline.events) {
    if (!timeline::on_compute_lane(event.op)) continue;
    const bool first_of_second = std::holds_alternative<Forward>(event.op) &&
                                 event.worker == WorkerId{1};  // idle 0–15, transfer 10–15
    const bool last_of_first = std::holds_alternative<Backward>(event.op) &&
                               event.worker == WorkerId{0};  // idle 10–50, transfer 45–50
    EXPECT_EQ(event.transfer, Nanos(first_of_second || last_of_first ? 5 : 0))
        << text_of(event, false);
    EXPECT_EQ(event.wait, Nanos(0));
  }
}

// Returns the profile with `input` nanoseconds for reading a minibatch.
profile::Profile with_reader(profile::Profile profile, std::int64_t input) {
  profile.input = Nanos(input);
  return profile;
}

// Reading takes 40 ns per minibatch, compute 30 ns. The reader is at most two minibatches ahead.
TEST(Loading, ThatIsSlowerThanComputeIsTheLimit) {
  const Pipeline pipeline = schedule::straight_pipeline(1);
  Case with = case_of(pipeline, {10, 20});
  with.profile = with_reader(with.profile, 40);
  const auto timeline = run(one_f_one_b(pipeline, 4), with).timeline;
  EXPECT_EQ(texts_of(timeline),
            (Texts{"F0@0 40–50, B0@0 50–70, U0>1 70–70, F1@1 80–90, B1@1 90–110, U1>2 110–110, "
                   "F2@2 120–130, B2@2 130–150, U2>3 150–150, F3@3 160–170, B3@3 170–190, "
                   "U3>4 190–190 | L0 0–40, L1 40–80, L2 80–120, L3 120–160"}));
  for (const timeline::Event& event : timeline.events)
    if (const auto* forward = std::get_if<Forward>(&event.op)) {
      EXPECT_EQ(event.wait, Nanos(forward->item.minibatch == 0 ? 40 : 10));
    }
}

TEST(Loading, ThatIsFasterIsHiddenAndTwoMinibatchesAhead) {
  const Pipeline pipeline = schedule::straight_pipeline(1);
  Case with = case_of(pipeline, {10, 20});
  with.profile = with_reader(with.profile, 7);
  EXPECT_EQ(texts_of(run(one_f_one_b(pipeline, 5), with).timeline),
            (Texts{"F0@0 7–17, B0@0 17–37, U0>1 37–37, F1@1 37–47, B1@1 47–67, U1>2 67–67, "
                   "F2@2 67–77, B2@2 77–97, U2>3 97–97, F3@3 97–107, B3@3 107–127, U3>4 127–127, "
                   "F4@4 127–137, B4@4 137–157, U4>5 157–157"
                   " | L0 0–7, L1 7–14, L2 14–21, L3 37–44, L4 67–74"}));
}

// The first stage reads the data and the last stage reads the labels. The reading time is divided
// between them by bytes.
TEST(Loading, IsSharedByTheStagesThatReadSomething) {
  const Pipeline pipeline = schedule::straight_pipeline(3);
  Case with = case_of(pipeline, {10, 20});
  with.profile = with_reader(with.profile, 12);  // data and labels have one byte each
  for (const timeline::Event& event : run(one_f_one_b(pipeline, 2), with).timeline.events)
    if (std::holds_alternative<schedule::Load>(event.op)) {
      EXPECT_NE(event.worker, WorkerId{1});
      EXPECT_EQ(event.end - event.start, Nanos(6));
    }
}

TEST(Stragglers, AreSlowerByTheirFactor) {
  const Case with = equal_stages(3, {10, 20});
  const auto schedule = one_f_one_b(with.plan, whole_minibatches(with.plan, 30));
  const auto period = [&](const Conditions& conditions) {
    const auto ends = ends_of_backwards(run(schedule, with, conditions).timeline);
    return (ends.at(25) - ends.at(10)) / 15;
  };
  EXPECT_EQ(period({}), Nanos(30));
  for (int worker = 0; worker < 3; ++worker) {
    EXPECT_EQ(period({.stragglers = {{WorkerId{worker}, 0.5}}}), Nanos(60))
        << "half the speed of one stage is half the speed of the pipeline";
    EXPECT_EQ(period({.stragglers = {{WorkerId{worker}, 2}}}), Nanos(30))
        << "and one fast stage helps nobody";
  }
  EXPECT_EQ(period({.stragglers = {{WorkerId{0}, 2}, {WorkerId{1}, 2}, {WorkerId{2}, 2}}}),
            Nanos(15));
}

TEST(Stragglers, HoldUpAllOfDataParallelismAndOnlyThemselvesWithoutABarrier) {
  Case with = chain_case(plan_of({3}), {{10, 20}}, Bytes{0}, Nanos(0), Bytes{1});
  with.cluster = room(3, Nanos(0), 1e15);
  const Conditions slow{.stragglers = {{WorkerId{2}, 0.5}}};
  const auto extent = whole_minibatches(with.plan, 300);
  const auto busy_until = [&](const timeline::Timeline& timeline, int worker) {
    Nanos end{0};
    for (const timeline::Event& event : timeline.events)
      if (event.worker == WorkerId{worker}) end = std::max(end, event.end);
    return end;
  };
  const auto together = run(bulk_synchronous(with.plan, extent), with, slow).timeline;
  const auto alone = run(asynchronous(with.plan, extent), with, slow).timeline;
  for (int worker = 0; worker < 3; ++worker)
    EXPECT_EQ(busy_until(together, worker), Nanos(100 * 60));
  EXPECT_EQ(busy_until(alone, 0), Nanos(100 * 30));
  EXPECT_EQ(busy_until(alone, 1), Nanos(100 * 30));
  EXPECT_EQ(busy_until(alone, 2), Nanos(100 * 60));
}

TEST(Jitter, IsTheSameForTheSameSeedAndOtherForAnother) {
  const Case with = equal_stages(3, {1000, 2000});
  const auto schedule = one_f_one_b(with.plan, whole_minibatches(with.plan, 20));
  const auto timeline = [&](double jitter, std::uint64_t seed) {
    return run(schedule, with, {.jitter = jitter, .seed = seed}).timeline;
  };
  EXPECT_EQ(timeline(0.1, 7), timeline(0.1, 7));
  EXPECT_NE(timeline(0.1, 7), timeline(0.1, 8));
  EXPECT_EQ(timeline(0, 7), timeline(0, 8));
}

TEST(Jitter, StaysWithinItsBoundsAndSpreadsOverThem) {
  const Case with = equal_stages(3, {1000, 2000});
  const auto timeline = run(one_f_one_b(with.plan, whole_minibatches(with.plan, 200)), with,
                            {.jitter = 0.25, .seed = 1})
                            .timeline;
  Nanos sum{0};
  Nanos least = Nanos::max();
  Nanos most{0};
  for (const timeline::Event& event : timeline.events) {
    const bool forward = std::holds_alternative<Forward>(event.op);
    if (!forward && !std::holds_alternative<Backward>(event.op)) continue;
    const Nanos took = forward ? 2 * (event.end - event.start) : event.end - event.start;
    sum += took;
    least = std::min(least, took);
    most = std::max(most, took);
  }
  EXPECT_GE(least, Nanos(1500 - 1));
  EXPECT_LE(least, Nanos(1520));
  EXPECT_LE(most, Nanos(2500 + 1));
  EXPECT_GE(most, Nanos(2480));
  EXPECT_NEAR(static_cast<double>(sum.count()) / 1200, 2000, 40) << "1,200 ops, uniform";
}

// Every op has its own random factor: the forward, backward and recomputation of one item, and the
// ops of different items, stages and workers.
TEST(Jitter, IsDrawnForEveryOpAnew) {
  plan::Plan plan;
  plan.microbatches = 2;
  for (int s = 0; s < 4; ++s) plan.stages.push_back({{}, {WorkerId{s % 2}}, 1, true});
  const Case with = chain_case(plan, std::vector<Times>(4, {1'000'000, 1'000'000}));
  const auto timeline =
      run(interleaved(with.plan, whole_minibatches(with.plan, 2)), with, {.jitter = 0.5, .seed = 3})
          .timeline;
  std::set<Nanos> seen;
  int ops = 0;
  for (const timeline::Event& event : timeline.events) {
    if (!timeline::on_compute_lane(event.op) || event.start == event.end) continue;
    ++ops;
    seen.insert(event.end - event.start);
  }
  EXPECT_EQ(ops, 4 * 3 * 4) << "stages, kinds of op, items";
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(ops));
}

// Returns two stages with a value of 100 bytes, and 1000 bytes of tied weights that both use.
Case tied_case(const std::vector<int>& replicas, int microbatches) {
  graph::Builder builder;
  const LayerId owner = builder.add_layer(
      "owner", "", {{"out", {}, Bytes{100}}, {"weight", {}, Bytes{1000}, /*is_weight=*/true}});
  const LayerId user = builder.add_layer("user", "", {});
  builder.add_edge(owner, 0, user);
  builder.add_edge(owner, 1, user);
  plan::Plan plan = plan_of(replicas);
  plan.stages[0].layers = {owner};
  plan.stages[1].layers = {user};
  plan.microbatches = microbatches;
  return case_of(Pipeline{std::move(builder).build(), plan}, {10, 10});
}

TEST(TiedWeights, CrossWholeWithEveryItemAndTheirGradientsComeBackWhole) {
  const Case with = tied_case({1, 1}, 4);
  const auto schedule = gpipe(with.plan, whole_minibatches(with.plan, 3));
  EXPECT_DOUBLE_EQ(run(schedule, with).result.bytes, 3 * (2 * 100 + 2 * 4 * 1000));
}

// The tied weights go to each replica that shares an item. Each of these replicas sends the
// gradient to one owner only.
TEST(TiedWeights, OfReplicasThatShareItemsGoToEachUserAndBackToOneOwner) {
  const auto bytes = [](const std::vector<int>& replicas) {
    const Case with = tied_case(replicas, 1);
    return run(dapple(with.plan, whole_minibatches(with.plan, 1)), with).result.bytes;
  };
  EXPECT_DOUBLE_EQ(bytes({1, 2}), 2 * 100 + 2 * 1000 + 2 * 1000);
  // With two replicas of stage 0, an item has the samples of two of the profile's minibatches.
  EXPECT_DOUBLE_EQ(bytes({2, 1}), 2 * 2 * 100 + 2 * 1000 + 1000);
}

TEST(SimulateDeathTest, AWorkerThatTheClusterLacksIsABugOfTheCaller) {
  Case with = equal_stages(2, {1, 1});
  with.cluster = room(1);
  const auto schedule = one_f_one_b(with.plan, whole_minibatches(with.plan, 1));
  EXPECT_DEATH((void)run(schedule, with), "id.index\\(\\) < program_of_.size\\(\\)");
}

}  // namespace
}  // namespace pipedream::simulate
