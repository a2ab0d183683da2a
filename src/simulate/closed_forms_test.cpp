// Simulated runs equal the closed forms, to the nanosecond: idle share, weight versions and items
// in flight of all systems (docs/systems.md), and the loop limits of 1F1B
// (docs/planner.md#time-per-minibatch).
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "cost/depths.h"
#include "cost/interleaving.h"
#include "schedule/dapple.h"
#include "schedule/gpipe.h"
#include "schedule/interleaved.h"
#include "schedule/model_parallel.h"
#include "schedule/two_buffered.h"
#include "simulate/simulate_testing.h"

namespace pipedream::simulate {
namespace {

using schedule::Backward;
using schedule::Forward;
using schedule::Schedule;
using schedule::whole_minibatches;

constexpr int kMostStages = 8;
constexpr int kMostItems = 64;

// What a simulated run shows of the things that the closed forms are about.
struct Observed {
  std::vector<timeline::Event> lanes;  // events on compute lanes
  Nanos length{0};
  std::map<WorkerId, Nanos> busy;
  Result result;
};

Observed observe(const Schedule& schedule, const Case& with) {
  Observed observed;
  const auto add = [&](const timeline::Event& event) {
    observed.lanes.push_back(event);
    observed.length = std::max(observed.length, event.end);
    observed.busy[event.worker] += event.end - event.start;
  };
  observed.result = simulate(schedule, with.plan, with.profile, with.cluster, {}, {add, {}});
  return observed;
}

// Expects every worker to be idle for `idle`/`all` of the run.
void expect_idle_share(const Observed& observed, std::int64_t idle, std::int64_t all) {
  for (const auto& [worker, busy] : observed.busy)
    EXPECT_EQ((observed.length - busy) * all, observed.length * idle) << "worker " << worker.value;
}

// Calls `look` for all numbers of stages S ≤ 8 and of items M ≤ 64, with several ratios of the
// backward time B to the forward time F: up to 4 items with all ratios, beyond with one ratio each.
template <class Look>
void for_all_sizes(Look look) {
  const std::vector<Times> ratios{{10, 20}, {7, 7}, {20, 3}, {1, 100}, {13, 37}};
  for (int stages = 1; stages <= kMostStages; ++stages)
    for (int items = 1; items <= kMostItems; ++items)
      for (std::size_t r = 0; r < ratios.size(); ++r) {
        if (items > 4 && static_cast<std::size_t>(stages + items) % ratios.size() != r) continue;
        SCOPED_TRACE(testing::Message() << "S " << stages << ", M " << items << ", F "
                                        << ratios[r].forward << ", B " << ratios[r].backward);
        look(stages, items, ratios[r]);
        if (testing::Test::HasFailure()) return;
      }
}

schedule::Counts counts_of(const Observed& observed, int stage) {
  for (const WorkerPeaks& worker : observed.result.peaks)
    for (const auto& [id, counts] : worker.stages)
      if (id == StageId{stage}) return counts;
  return {};
}

// Expects the peak counts that cost/counts.h predicts for every stage of the plan.
void expect_peaks(const Observed& observed, const cost::SystemRules& rules,
                  const plan::Plan& plan) {
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const cost::PeakCounts wanted =
        cost::peak_counts(rules.traits, plan.stages[s].depth, 1, plan.microbatches);
    EXPECT_EQ(counts_of(observed, static_cast<int>(s)),
              (schedule::Counts{wanted.versions, wanted.gradients, wanted.in_flight}))
        << "stage " << s;
  }
}

TEST(ClosedForms, ModelParallelIsIdleForAllStagesButOne) {
  for_all_sizes([](int stages, int minibatches, Times times) {
    if (minibatches > 8) return;  // more of them only repeat the same
    const Case with = equal_stages(stages, times);
    const Observed observed =
        observe(model_parallel(with.plan, whole_minibatches(with.plan, minibatches)), with);
    EXPECT_EQ(observed.length, Nanos(minibatches * stages * (times.forward + times.backward)));
    expect_idle_share(observed, stages - 1, stages);
    expect_peaks(observed, cost::kModelParallel, with.plan);
  });
}

TEST(ClosedForms, GpipeIsIdleWhileItFillsAndDrains) {
  for_all_sizes([](int stages, int items, Times times) {
    const Case with = equal_stages(stages, times, items);
    const int flushes = items <= 4 ? 3 : 1;
    const Observed observed =
        observe(gpipe(with.plan, whole_minibatches(with.plan, flushes)), with);
    EXPECT_EQ(observed.length,
              Nanos(flushes * (items + stages - 1) * (times.forward + times.backward)));
    expect_idle_share(observed, stages - 1, items + stages - 1);
    expect_peaks(observed, cost::kGpipe, with.plan);
    EXPECT_EQ(counts_of(observed, 0), (schedule::Counts{1, 1, items}));
  });
}

// Recomputing counts as busy. It begins when the gradient has arrived.
TEST(ClosedForms, GpipeThatRecomputesHasTheSameIdleShare) {
  for_all_sizes([](int stages, int items, Times times) {
    Case with = equal_stages(stages, times, items);
    for (plan::Stage& stage : with.plan.stages) stage.recompute = true;
    const Observed observed = observe(gpipe(with.plan, whole_minibatches(with.plan, 1)), with);
    EXPECT_EQ(observed.length, Nanos((items + stages - 1) * (2 * times.forward + times.backward)));
    expect_idle_share(observed, stages - 1, items + stages - 1);
    expect_peaks(observed, cost::kGpipe, with.plan);
  });
}

TEST(ClosedForms, DappleIsIdleAsGpipeWithFewerInFlight) {
  for_all_sizes([](int stages, int items, Times times) {
    const Case with = equal_stages(stages, times, items);
    const int flushes = items <= 4 ? 3 : 1;
    const Observed observed =
        observe(dapple(with.plan, whole_minibatches(with.plan, flushes)), with);
    EXPECT_EQ(observed.length,
              Nanos(flushes * (items + stages - 1) * (times.forward + times.backward)));
    expect_idle_share(observed, stages - 1, items + stages - 1);
    expect_peaks(observed, cost::kDapple, with.plan);
    EXPECT_EQ(counts_of(observed, 0), (schedule::Counts{1, 1, std::min(stages, items)}));
  });
}

// n workers with v stages each.
TEST(ClosedForms, InterleavedFillsAndDrainsInAFractionOfTheTime) {
  for (int workers = 1; workers <= kMostStages; ++workers)
    for (int chunks = 1; chunks <= 4; ++chunks)
      for (int items = workers; items <= 24; items += workers)
        for (const Times times : {Times{10, 20}, Times{20, 3}}) {
          SCOPED_TRACE(testing::Message()
                       << "n " << workers << ", v " << chunks << ", M " << items);
          plan::Plan plan;
          plan.microbatches = items;
          for (int s = 0; s < workers * chunks; ++s)
            plan.stages.push_back({{}, {WorkerId{s % workers}}});
          const Case with =
              chain_case(std::move(plan),
                         std::vector<Times>(static_cast<std::size_t>(workers * chunks), times));
          const Observed observed =
              observe(interleaved(with.plan, whole_minibatches(with.plan, 1)), with);
          EXPECT_EQ(observed.length,
                    Nanos((chunks * items + workers - 1) * (times.forward + times.backward)));
          expect_idle_share(observed, workers - 1, chunks * items + workers - 1);
          const std::vector<int> depths = cost::Interleaving{workers, chunks, items}.in_flight();
          for (int s = 0; s < workers * chunks; ++s)
            EXPECT_EQ(counts_of(observed, s),
                      (schedule::Counts{1, 1, depths[static_cast<std::size_t>(s)]}))
                << "stage " << s;
          if (HasFailure()) return;
        }
}

// The programs have the items in flight that the planner counts, even if the number of microbatches
// is not a multiple of the number of workers.
TEST(ClosedForms, InterleavedHasAsManyInFlightAsThePlannerThinks) {
  for (int workers = 1; workers <= kMostStages; ++workers)
    for (int chunks = 1; chunks <= 4; ++chunks)
      for (int items = 1; items <= 2 * workers + 1; ++items) {
        plan::Plan plan;
        plan.microbatches = items;
        for (int s = 0; s < workers * chunks; ++s)
          plan.stages.push_back({{}, {WorkerId{s % workers}}});
        std::vector<int> now(plan.stages.size());
        std::vector<int> most(plan.stages.size());
        for (const schedule::Program& program :
             programs_of(interleaved(plan, whole_minibatches(plan, 1))))
          for (const schedule::Op& op : program.ops) {
            if (const auto* forward = std::get_if<Forward>(&op)) {
              const std::size_t s = forward->stage.index();
              most[s] = std::max(most[s], ++now[s]);
            }
            if (const auto* backward = std::get_if<Backward>(&op)) --now[backward->stage.index()];
          }
        EXPECT_EQ(most, (cost::Interleaving{workers, chunks, items}.in_flight()))
            << "n " << workers << ", v " << chunks << ", M " << items;
      }
}

// Expects that no worker is idle between the first backward and the last forward of the first
// stage.
void expect_no_idle_in_steady_state(const Observed& observed) {
  Nanos begin = observed.length;
  Nanos end{0};
  for (const timeline::Event& event : observed.lanes) {
    if (event.worker != WorkerId{0}) continue;
    if (std::holds_alternative<Backward>(event.op)) begin = std::min(begin, event.start);
    if (std::holds_alternative<Forward>(event.op)) end = std::max(end, event.end);
  }
  if (end <= begin) return;  // too few minibatches for a steady state
  std::map<WorkerId, Nanos> busy;
  for (const timeline::Event& event : observed.lanes)
    busy[event.worker] +=
        std::max(Nanos(0), std::min(end, event.end) - std::max(begin, event.start));
  for (const auto& [worker, time] : busy) EXPECT_EQ(time, end - begin) << "worker " << worker.value;
}

TEST(ClosedForms, PipedreamIsIdleOnlyBeforeAndAfterItsSteadyState) {
  for_all_sizes([](int stages, int minibatches, Times times) {
    const Case with = equal_stages(stages, times);
    const Observed observed =
        observe(one_f_one_b(with.plan, whole_minibatches(with.plan, minibatches)), with);
    const std::int64_t steps = minibatches + stages - 1;
    EXPECT_EQ(observed.length, Nanos(steps * (times.forward + times.backward)));
    expect_idle_share(observed, stages - 1, steps);
    expect_no_idle_in_steady_state(observed);
    // A stage of depth d has its peak only from 2d − 1 minibatches on. Its first d forwards use
    // version 0. Before the last of their backwards, d − 1 more forwards use a new version each.
    if (minibatches < 2 * stages - 1) return;
    expect_peaks(observed, cost::kPipedream, with.plan);
    for (int s = 0; s < stages; ++s)
      EXPECT_EQ(counts_of(observed, s), (schedule::Counts{stages - s, 1, stages - s}));
  });
}

TEST(ClosedForms, VerticalSyncKeepsAsManyVersionsOnEveryStageAsOnTheFirst) {
  for (int stages = 1; stages <= kMostStages; ++stages) {
    const Case with = equal_stages(stages, {10, 20});
    const Schedule schedule = one_f_one_b(with.plan, whole_minibatches(with.plan, 3 * stages),
                                          schedule::WeightVersions::kVerticalSync);
    const Observed observed = observe(schedule, with);
    expect_no_idle_in_steady_state(observed);
    for (int s = 0; s < stages; ++s)
      EXPECT_EQ(counts_of(observed, s), (schedule::Counts{stages, 1, stages - s}));
  }
}

TEST(ClosedForms, TwoBufferedIsNeverIdleInSteadyStateAndKeepsTwoVersions) {
  for_all_sizes([](int stages, int items, Times times) {
    if (items < stages - 1) return;
    const int minibatches = items < 8 ? 4 : 2;  // the second version comes with the first update
    const Case with = equal_stages(stages, times, items);
    const Observed observed =
        observe(two_buffered(with.plan, whole_minibatches(with.plan, minibatches)), with);
    const std::int64_t steps = minibatches * items + stages - 1;
    EXPECT_EQ(observed.length, Nanos(steps * (times.forward + times.backward)));
    expect_idle_share(observed, stages - 1, steps);
    expect_no_idle_in_steady_state(observed);
    expect_peaks(observed, cost::kTwoBuffered, with.plan);
    EXPECT_EQ(counts_of(observed, 0), (schedule::Counts{2, 1, stages}));
  });
}

// A part of the pipeline that minibatches pass, forward and back.
struct Loop {
  std::int64_t way = 0;    // nanoseconds that a minibatch takes for both directions
  std::int64_t loops = 1;  // the most minibatches that are in this part at a time
  [[nodiscard]] bool slower_than(const Loop& other) const {
    return way * other.loops > other.way * loops;
  }
};

// The time that a number of minibatches takes in the steady state. The number is a multiple of
// `Loop::loops`, because the state of the pipeline repeats after that many minibatches.
struct Steady {
  Nanos time;
  std::int64_t minibatches;
};

Steady steady_state(const Case& with, const Loop& loop) {
  const std::int64_t warm_up = 16 * with.plan.stages.front().depth;
  const std::int64_t after = warm_up + 3 * loop.loops;
  const auto schedule = one_f_one_b(
      with.plan, whole_minibatches(with.plan, after + 2 * with.plan.stages.front().depth));
  Nanos from{0};
  Nanos to{0};
  const auto look = [&](const timeline::Event& event) {
    const auto* backward = std::get_if<Backward>(&event.op);
    if (backward == nullptr || backward->stage != StageId{0}) return;
    if (backward->item.minibatch == warm_up) from = event.end;
    if (backward->item.minibatch == after) to = event.end;
  };
  (void)simulate(schedule, with.plan, with.profile, with.cluster, {}, {look, {}});
  return {to - from, after - warm_up};
}

// Expects that the period is exactly `loop.way`/`loop.loops`.
void expect_period(const Case& with, const Loop& loop) {
  const Steady steady = steady_state(with, loop);
  EXPECT_EQ(steady.time * loop.loops, Nanos(loop.way) * steady.minibatches);
}

// Returns a pipeline whose transfers have no bytes: they take `latency` and share no link.
Case with_latency(const std::vector<Times>& times, const std::vector<int>& depths,
                  std::int64_t latency) {
  plan::Plan plan = schedule::plan_of(std::vector<int>(times.size(), 1), depths);
  return chain_case(std::move(plan), times, Bytes{0}, Nanos(latency));
}

std::vector<int> depths_of(std::size_t stages, int slack) {
  return cost::pipeline_depths(std::vector<int>(stages, 1), slack);
}

// For every stage i, the period is at least the round trip of a minibatch from stage i to the end
// of the pipeline and back, over the depth d_i. The round trip is the sum of F + B over the stages
// from i on, and of two transfers between neighbours. If all stages are equal, there is no other
// limit but the compute of one stage.
TEST(LoopLimit, IsThePeriodOfEqualStagesExactly) {
  for (int stages = 1; stages <= kMostStages; ++stages)
    for (const int slack : {1, 2, 3})
      for (const Times times : {Times{10, 20}, Times{20, 3}})
        for (const std::int64_t transfer : {0, 1, 10, 15, 16, 50}) {
          SCOPED_TRACE(testing::Message() << "S " << stages << ", slack " << slack << ", F "
                                          << times.forward << ", transfer " << transfer);
          const std::vector<Times> all(static_cast<std::size_t>(stages), times);
          const std::vector<int> depths = depths_of(all.size(), slack);
          Loop slowest{times.forward + times.backward, 1};
          for (int i = 0; i < stages; ++i) {
            const Loop loop{
                (stages - i) * (times.forward + times.backward) + 2 * (stages - i - 1) * transfer,
                depths[static_cast<std::size_t>(i)]};
            if (loop.slower_than(slowest)) slowest = loop;
          }
          expect_period(with_latency(all, depths, transfer), slowest);
        }
}

TEST(LoopLimit, OfTheExampleInTheTextIsFourAndAHalf) {
  expect_period(with_latency(std::vector<Times>(4, {10, 20}), depths_of(4, 1), 10), {180, 4});
}

// Stage i of n, counted from 1, has 2(n − i) + 1 minibatches in flight.
TEST(LoopLimit, HidesTransfersOfHalfAStageWithTwiceTheDepth) {
  for (int stages = 1; stages <= kMostStages; ++stages)
    for (const std::int64_t transfer : {0, 1, 10, 15}) {
      SCOPED_TRACE(testing::Message() << stages << " stages, transfer " << transfer);
      std::vector<int> depths;
      for (int i = 1; i <= stages; ++i) depths.push_back(2 * (stages - i) + 1);
      const std::vector<Times> all(static_cast<std::size_t>(stages), {10, 20});
      expect_period(with_latency(all, depths, transfer), {30, 1});
    }
}

// From stage i to stage j there are at most d_i − d_j + 1 minibatches, so every such part of the
// pipeline is a loop of its own. If j is the last stage, this is the limit of equal stages; if
// i = j, it is the compute of one stage. If stages differ, a part in the middle may be the slowest.
TEST(LoopLimit, OfStagesThatDifferIsThatOfTheSlowestPartOfThePipeline) {
  const std::vector<std::vector<Times>> pipelines{
      {{10, 10}, {10, 10}, {1, 1}, {1, 1}},
      {{1, 1}, {10, 10}, {10, 10}, {1, 1}},
      {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}},
      {{9, 1}, {1, 9}, {5, 5}, {2, 3}},
      {{40, 80}, {1, 1}, {1, 1}},
      {{3, 5}, {20, 20}, {3, 5}, {19, 20}, {3, 5}, {3, 5}}};
  int inner = 0;
  for (const auto& times : pipelines)
    for (const int slack : {1, 2})
      for (const std::int64_t transfer : {0, 1, 4, 11, 60}) {
        SCOPED_TRACE(testing::Message()
                     << times.size() << " stages, slack " << slack << ", transfer " << transfer);
        const std::vector<int> depths = depths_of(times.size(), slack);
        Loop slowest;
        bool is_inner = false;
        for (std::size_t i = 0; i < times.size(); ++i) {
          std::int64_t way = -2 * transfer;
          for (std::size_t j = i; j < times.size(); ++j) {
            way += times[j].forward + times[j].backward + 2 * transfer;
            const Loop loop{way, depths[i] - depths[j] + 1};
            if (!loop.slower_than(slowest)) continue;
            slowest = loop;
            is_inner = i < j && j + 1 < times.size();
          }
        }
        inner += is_inner ? 1 : 0;
        expect_period(with_latency(times, depths, transfer), slowest);
      }
  EXPECT_GT(inner, 0);
}

}  // namespace
}  // namespace pipedream::simulate
