// Why simulated workers stand idle: each cause by itself.
#include <gtest/gtest.h>

#include "schedule/bulk_synchronous.h"
#include "schedule/dapple.h"
#include "schedule/gpipe.h"
#include "schedule/model_parallel.h"
#include "schedule/two_buffered.h"
#include "simulate/simulate_testing.h"
#include "timeline/account.h"

namespace pipedream::simulate {
namespace {

using schedule::plan_of;
using schedule::Schedule;
using schedule::whole_minibatches;

timeline::Summary summary_of(const Schedule& schedule, const Case& with,
                             const Conditions& conditions = {}) {
  timeline::Account account({.flushes = schedule.rules.traits.flushes});
  const auto add = [&](const timeline::Event& event) { account.add(event); };
  (void)simulate(schedule, with.plan, with.profile, with.cluster, conditions, {add, {}});
  return account.finish();
}

// Returns idle times in nanoseconds.
timeline::Idle idle(int fill_drain, int imbalance, int transfer, int wait) {
  return {Nanos(fill_drain), Nanos(imbalance), Nanos(transfer), Nanos(wait)};
}

// Interleaved pipelines are left out. Part of their bubble lies between a worker's first backward
// and its last forward, and counts as waiting.
TEST(IdleTime, OfBalancedPipelinesWithoutTransfersIsAllFillingAndDraining) {
  for (int stages = 1; stages <= 6; ++stages) {
    const Case one = equal_stages(stages, {10, 20});
    const Case cut = equal_stages(stages, {10, 20}, 8);
    const auto extent = [](const Case& with) { return whole_minibatches(with.plan, 7); };
    for (const auto& [schedule, with] : {std::pair{model_parallel(one.plan, extent(one)), &one},
                                         {one_f_one_b(one.plan, extent(one)), &one},
                                         {gpipe(cut.plan, extent(cut)), &cut},
                                         {dapple(cut.plan, extent(cut)), &cut},
                                         {two_buffered(cut.plan, extent(cut)), &cut}}) {
      const timeline::Idle found = summary_of(schedule, *with).idle;
      EXPECT_EQ(found, (timeline::Idle{found.total(), {}, {}, {}})) << stages << " stages";
      EXPECT_EQ(found.total() > Nanos(0), stages > 1);
    }
  }
}

// A minibatch takes 60 ns on the slow stage and 30 ns on the other two, which lack 30 ns each time.
TEST(IdleTime, BesideOneSlowStageIsImbalanceOfTheOthers) {
  for (int slow = 0; slow < 3; ++slow) {
    std::vector<Times> times(3, {10, 20});
    times[static_cast<std::size_t>(slow)] = {20, 40};
    const Case with = chain_case(plan_of({1, 1, 1}, {3, 2, 1}), times);
    const timeline::Summary summary =
        summary_of(one_f_one_b(with.plan, whole_minibatches(with.plan, 50)), with);
    for (const timeline::WorkerAccount& worker : summary.workers) {
      const bool is_slow = worker.worker == WorkerId{slow};
      EXPECT_EQ(worker.idle.imbalance, Nanos(is_slow ? 0 : 50 * 30));
      EXPECT_EQ(worker.idle.transfer, Nanos(0));
      EXPECT_EQ(worker.idle.wait, Nanos(0));
    }
  }
}

TEST(IdleTime, OfAStragglerIsThatOfASlowStage) {
  const Case with = equal_stages(3, {10, 20});
  const timeline::Summary summary =
      summary_of(one_f_one_b(with.plan, whole_minibatches(with.plan, 50)), with,
                 {.stragglers = {{WorkerId{1}, 0.5}}});
  EXPECT_EQ(summary.workers[0].idle.imbalance, Nanos(50 * 30));
  EXPECT_EQ(summary.workers[1].idle.imbalance, Nanos(0));
  EXPECT_EQ(summary.workers[2].idle.imbalance, Nanos(50 * 30));
}

// There is one minibatch at a time. A worker waits while its next value is being transferred, and
// before that while the other worker computes.
TEST(IdleTime, BehindSlowLinksIsTransfer) {
  const Case with = chain_case(plan_of({1, 1}), {{10, 20}, {10, 20}}, Bytes{1000});
  const timeline::Summary summary =
      summary_of(model_parallel(with.plan, whole_minibatches(with.plan, 3)), with);
  EXPECT_EQ(summary.workers[0].idle, idle(3 * (1000 + 30), 0, 3 * 1000, 0))
      << "of forth and back only the way back is what it waits for";
  EXPECT_EQ(summary.workers[1].idle, idle(3 * (1000 + 30), 0, 3 * 1000, 0));
}

TEST(IdleTime, OfAveragesOverSlowLinksIsTransferAndOfAStragglersOneIsAWait) {
  const Case with = chain_case(plan_of({2}), {{10, 20}}, Bytes{0}, Nanos(0), Bytes{1000});
  const auto schedule = bulk_synchronous(with.plan, whole_minibatches(with.plan, 2 * 5));
  EXPECT_EQ(summary_of(schedule, with).idle, idle(0, 0, 2 * 5 * 1000, 0));
  const timeline::Summary slow = summary_of(schedule, with, {.stragglers = {{WorkerId{1}, 0.5}}});
  EXPECT_EQ(slow.workers[0].idle, idle(0, 5 * 30, 5 * 1000, 0))
      << "it would have been a wait, had it as much to do";
  EXPECT_EQ(slow.workers[1].idle, idle(0, 0, 5 * 1000, 0));
}

TEST(IdleTime, BehindASlowReaderIsAWait) {
  const schedule::Pipeline pipeline = schedule::straight_pipeline(1);
  Case with = case_of(pipeline, {10, 20});
  with.profile.input = Nanos(50);
  EXPECT_EQ(summary_of(one_f_one_b(pipeline, 10), with).idle, idle(0, 0, 0, 50 + 9 * 20));
}

TEST(IdleTime, OfJitterThatEvensOutIsAWait) {
  const Case with = equal_stages(4, {1000, 2000});
  const timeline::Summary summary = summary_of(
      one_f_one_b(with.plan, whole_minibatches(with.plan, 200)), with, {.jitter = 0.3, .seed = 4});
  EXPECT_GT(summary.idle.wait, summary.idle.imbalance);
  EXPECT_EQ(summary.idle.transfer, Nanos(0));
}

}  // namespace
}  // namespace pipedream::simulate
