#include "timeline/account.h"

#include <gtest/gtest.h>

namespace pipedream::timeline {
namespace {

using schedule::Await;
using schedule::Backward;
using schedule::BackwardPart;
using schedule::Forward;
using schedule::Item;
using schedule::Load;
using schedule::Op;
using schedule::Recompute;
using schedule::Reduce;
using schedule::Update;

Op forward(Item item, int stage = 0) { return Forward{StageId{stage}, item, {0}}; }
Op backward(Item item, int stage = 0, BackwardPart part = BackwardPart::kFull) {
  return Backward{StageId{stage}, item, {0}, part};
}
Op update(int stage = 0) { return Update{StageId{stage}, {0}, {1}, 0, 0}; }

Event event(int worker, const Op& op, int start, int end, int transfer = 0, int wait = 0) {
  return {WorkerId{worker}, op, Nanos(start), Nanos(end), Nanos(transfer), Nanos(wait)};
}

Summary summary_of(const std::vector<Event>& events, const AccountRule& rule = {}) {
  Account account(rule);
  for (const Event& each : events) account.add(each);
  return account.finish();
}

Idle idle(int fill_drain, int imbalance, int transfer, int wait) {
  return {Nanos(fill_drain), Nanos(imbalance), Nanos(transfer), Nanos(wait)};
}

TEST(Account, OfNothingIsZero) {
  const Summary summary = summary_of({});
  EXPECT_EQ(summary.length, Nanos(0));
  EXPECT_TRUE(summary.workers.empty());
  EXPECT_EQ(summary.idle, Idle{});
  EXPECT_EQ(summary.utilisation(), 0);
  EXPECT_EQ(summary.minibatches_per_second(), 0);
}

// Two equal stages, two minibatches of 1F1B:
//
//   F0 F1    B0 B0    B1 B1
//      F0 B0 B0 F1 B1 B1
TEST(Account, ABalancedPipelineOnlyFillsAndDrains) {
  const Summary summary =
      summary_of({event(0, forward({0, 0}), 0, 10), event(0, forward({1, 0}), 10, 20),
                  event(1, forward({0, 0}, 1), 10, 20), event(1, backward({0, 0}, 1), 20, 40),
                  event(1, forward({1, 0}, 1), 40, 50), event(0, backward({0, 0}), 40, 60),
                  event(1, backward({1, 0}, 1), 50, 70), event(0, backward({1, 0}), 70, 90)});
  EXPECT_EQ(summary.length, Nanos(90));
  ASSERT_EQ(summary.workers.size(), 2U);
  for (const WorkerAccount& worker : summary.workers) {
    EXPECT_EQ(worker.busy, Nanos(60));
    EXPECT_EQ(worker.idle, idle(30, 0, 0, 0));
  }
  EXPECT_EQ(summary.busy, Nanos(120));
  EXPECT_EQ(summary.idle, idle(60, 0, 0, 0));
  EXPECT_DOUBLE_EQ(summary.utilisation(), 120.0 / 180);
}

// After a worker's first backward, the pipeline does not fill any more. It does not drain either
// while forwards still follow.
TEST(Account, AGapBetweenABackwardAndALaterForwardIsAWait) {
  EXPECT_EQ(summary_of({event(0, forward({0, 0}), 0, 10), event(0, backward({0, 0}), 10, 30),
                        event(0, forward({1, 0}), 37, 47), event(0, backward({1, 0}), 47, 67)})
                .idle,
            idle(0, 0, 0, 7));
  EXPECT_EQ(summary_of({event(0, forward({0, 0}), 0, 10), event(0, forward({1, 0}), 10, 20),
                        event(0, backward({0, 0}), 20, 40), event(0, backward({1, 0}), 45, 65),
                        event(0, forward({2, 0}), 72, 82), event(0, backward({2, 0}), 82, 102)})
                .idle,
            idle(0, 0, 0, 5 + 7))
      << "also where it is before another backward";
}

TEST(Account, AGapAfterTheLastForwardIsDraining) {
  EXPECT_EQ(summary_of({event(0, forward({0, 0}), 0, 10), event(0, forward({1, 0}), 10, 20),
                        event(0, backward({0, 0}), 20, 40), event(0, backward({1, 0}), 45, 65),
                        event(1, forward({0, 0}, 1), 0, 60), event(1, backward({0, 0}, 1), 60, 60)})
                .workers[0]
                .idle,
            idle(5, 0, 0, 0));
}

TEST(Account, WithFlushesEveryMinibatchFillsAndDrains) {
  const std::vector<Event> events{
      event(0, forward({0, 0}), 0, 10),    event(0, backward({0, 0}), 15, 35),
      event(0, update(), 35, 35),          event(0, forward({1, 0}), 42, 52),
      event(0, backward({1, 0}), 60, 80),  event(0, update(), 80, 80),
      event(1, forward({0, 0}, 1), 0, 60), event(1, backward({0, 0}, 1), 60, 60)};
  EXPECT_EQ(summary_of(events, {.flushes = true}).workers[0].idle, idle(5 + 7 + 8, 0, 0, 0));
  EXPECT_EQ(summary_of(events).workers[0].idle, idle(5 + 8, 0, 0, 7)) << "else the second does not";
}

TEST(Account, TakesTransfersAndWaitsFromTheEvents) {
  EXPECT_EQ(summary_of({event(0, forward({0, 0}), 20, 30, 0, 20),   // gap 20, wait 20
                        event(0, backward({0, 0}), 40, 60, 4, 0),   // gap 10, transfer 4
                        event(0, forward({1, 0}), 75, 85, 5, 3),    // gap 15, transfer 5, wait 3
                        event(0, Await{{0}, {1}}, 100, 100, 9, 6),  // gap 15, transfer 9, wait 6
                        event(0, backward({1, 0}), 100, 120)})
                .idle,
            idle(6, 0, 4 + 5 + 9, 20 + 7 + 3 + 6));
}

// Worker 0 computes for 60 and worker 1 for 20, so worker 1 would stand idle for 40 in any case.
TEST(Account, WhatAWorkerLacksOfTheBusiestOnesWorkIsImbalance) {
  const std::vector<Event> busiest{event(0, forward({0, 0}), 0, 20),
                                   event(0, backward({0, 0}), 20, 60)};
  const auto with = [&](const std::vector<Event>& others) {
    std::vector<Event> events = busiest;
    events.insert(events.end(), others.begin(), others.end());
    return summary_of(events).workers[1];
  };
  const WorkerAccount slack =
      with({event(1, forward({0, 0}, 1), 10, 15), event(1, backward({0, 0}, 1), 45, 60)});
  EXPECT_EQ(slack.busy, Nanos(20));
  EXPECT_EQ(slack.idle, idle(0, 40, 0, 0));
  EXPECT_EQ(with({event(1, forward({0, 0}, 1), 10, 15, 10, 0),
                  event(1, backward({0, 0}, 1), 55, 70, 0, 7)})
                .idle,
            idle(0, 40, 10, 0))
      << "of waits first, then of filling and draining, then of transfers";
  EXPECT_EQ(with({event(1, forward({0, 0}, 1), 10, 15, 10, 0),
                  event(1, backward({0, 0}, 1), 45, 60, 30, 0)})
                .idle,
            idle(0, 40, 0, 0));
}

TEST(Account, RecomputingIsBusyAndCountedApart) {
  const Summary summary =
      summary_of({event(0, forward({0, 0}), 0, 10), event(0, Recompute{{0}, {0, 0}, {0}}, 10, 20),
                  event(0, backward({0, 0}), 20, 40)});
  EXPECT_EQ(summary.busy, Nanos(40));
  EXPECT_EQ(summary.recompute, Nanos(10));
  EXPECT_EQ(summary.workers[0].recompute, Nanos(10));
  EXPECT_EQ(summary.idle, Idle{});
  EXPECT_EQ(summary.utilisation(), 1);
}

TEST(Account, PassesOverWhatIsNotOnAComputeLane) {
  const Summary summary =
      summary_of({event(0, Load{{0}, {0, 0}}, 0, 70), event(0, forward({0, 0}), 0, 10),
                  event(1, Reduce{{0}, {1}}, 5, 80), event(0, backward({0, 0}), 10, 30)});
  EXPECT_EQ(summary.length, Nanos(30));
  ASSERT_EQ(summary.workers.size(), 1U);
  EXPECT_EQ(summary.idle, Idle{});
}

TEST(Account, ListsTheWorkersThatDidSomethingInTheirOrder) {
  const Summary summary =
      summary_of({event(5, forward({0, 0}), 0, 10), event(2, forward({0, 0}, 1), 10, 20)});
  ASSERT_EQ(summary.workers.size(), 2U);
  EXPECT_EQ(summary.workers[0].worker, WorkerId{2});
  EXPECT_EQ(summary.workers[1].worker, WorkerId{5});
}

// Returns the backwards of minibatches 0, 1, … on stage 0, which end at the times `ends`.
std::vector<Event> backwards(const std::vector<int>& ends) {
  std::vector<Event> events;
  for (std::size_t b = 0; b < ends.size(); ++b)
    events.push_back(event(0, backward({static_cast<std::int64_t>(b), 0}), ends[b] - 1, ends[b]));
  return events;
}

TEST(Rate, IsTakenFromTheEndOfWarmUpToTheLastMinibatch) {
  const auto events = backwards({100, 110, 150, 160, 170});
  const AccountRule rule{.warm_up = 2, .extent = {5, 1, 1}};
  EXPECT_EQ(summary_of(events, rule).measured_minibatches, 3);
  EXPECT_EQ(summary_of(events, rule).measured_time, Nanos(60));
  EXPECT_DOUBLE_EQ(summary_of(events, rule).minibatches_per_second(), 3 / 60e-9);
}

TEST(Rate, WithoutWarmUpIsThatOfTheWholeRun) {
  const Summary summary = summary_of(backwards({100, 150}), {.extent = {2, 1, 1}});
  EXPECT_EQ(summary.measured_minibatches, 2);
  EXPECT_EQ(summary.measured_time, Nanos(150));
}

TEST(Rate, IsTakenBetweenFullRounds) {
  const auto events = backwards({10, 12, 14, 40, 42, 44, 70, 72});
  const Summary summary =
      summary_of(events, {.stages = {{.round = 3}}, .warm_up = 3, .extent = {8, 1, 1}});
  EXPECT_EQ(summary.measured_minibatches, 3) << "the third round is not full";
  EXPECT_EQ(summary.measured_time, Nanos(30));
}

TEST(Rate, OfARunThatIsAllWarmUpIsZero) {
  const Summary summary = summary_of(backwards({10, 20}), {.warm_up = 2, .extent = {2, 1, 1}});
  EXPECT_EQ(summary.measured_minibatches, 0);
  EXPECT_EQ(summary.minibatches_per_second(), 0);
}

// Minibatch 0 has two microbatches and the last minibatch has one. Workers 0 and 1, the replicas of
// stage 0, share each microbatch. Backwards are split, and their weight part ends later.
TEST(Rate, AMinibatchIsDoneWithItsLastBackwardOnAllPartsOfTheFirstStage) {
  std::vector<Event> events;
  const auto add = [&](int worker, Item item, int end, int stage = 0) {
    events.push_back(event(worker, backward(item, stage, BackwardPart::kInput), end - 4, end - 2));
    events.push_back(event(worker, backward(item, stage, BackwardPart::kWeight), end - 2, end));
  };
  add(2, {0, 1}, 500, 1);  // stage 1 is not listed in the rule
  add(0, {0, 0}, 10);
  add(1, {0, 0}, 12);
  add(0, {0, 1}, 20);
  add(1, {0, 1}, 26);
  add(0, {1, 0}, 47);
  add(1, {1, 0}, 41);
  const AccountRule rule{.stages = {{.parts = 2}}, .warm_up = 1, .extent = {2, 2, 1}};
  const Summary summary = summary_of(events, rule);
  EXPECT_EQ(summary.measured_minibatches, 1);
  EXPECT_EQ(summary.measured_time, Nanos(47 - 26));
}

// Once no forwards are left, backwards follow each other faster than in the steady state.
TEST(Rate, LeavesOutTheDrain) {
  std::vector<Event> events;
  for (int b = 0; b < 3; ++b) {
    events.push_back(event(0, forward({b, 0}), 30 * b, 30 * b + 10));
    events.push_back(event(0, backward({b, 0}), 30 * b + 10, 30 * b + 30));
  }
  events.push_back(event(0, forward({3, 0}), 90, 100));
  events.push_back(event(0, backward({3, 0}), 100, 101));
  const Summary summary = summary_of(events, {.extent = {4, 1, 1}});
  EXPECT_EQ(summary.measured_minibatches, 3);
  EXPECT_EQ(summary.measured_time, Nanos(90));
  const Summary flushed = summary_of(events, {.flushes = true, .extent = {4, 1, 1}});
  EXPECT_EQ(flushed.measured_minibatches, 4) << "there every minibatch has its own";
}

// Nothing that stage 0 sends leads to stage 1, so stage 0 does not wait for it.
TEST(Rate, IsThatOfTheStageThatEndsLast) {
  std::vector<Event> events = backwards({10, 20, 30, 40});
  for (const auto& [b, end] : {std::pair{0, 25}, {1, 50}, {2, 75}, {3, 100}})
    events.push_back(event(1, backward({b, 0}, 1), end - 5, end));
  const Summary summary =
      summary_of(events, {.stages = {{}, {}}, .warm_up = 1, .extent = {4, 1, 1}});
  EXPECT_EQ(summary.measured_minibatches, 3);
  EXPECT_EQ(summary.measured_time, Nanos(75));
}

// Stage 1 has three replicas, and two minibatches are no full round of theirs.
TEST(Rate, IsThatOfAnotherStageIfTheLastHasNoFullRound) {
  std::vector<Event> events = backwards({10, 20});
  events.push_back(event(1, backward({1, 0}, 1), 20, 25));
  const Summary summary = summary_of(events, {.stages = {{}, {.round = 3}}, .extent = {2, 1, 1}});
  EXPECT_EQ(summary.measured_minibatches, 2);
  EXPECT_EQ(summary.measured_time, Nanos(20));
}

// Two workers take turns. The pipeline already drains when worker 0 ends the last warm-up
// minibatch, and worker 1 ends the next minibatch at the very same time.
TEST(Rate, IsNeverTakenOverNoTime) {
  const std::vector<Event> events{
      event(1, forward({3, 0}), 0, 10), event(0, backward({0, 0}), 10, 99),
      event(1, backward({1, 0}), 50, 99), event(1, backward({2, 0}), 99, 129)};
  const Summary summary = summary_of(events, {.warm_up = 1, .extent = {4, 1, 1}});
  EXPECT_EQ(summary.measured_minibatches, 2);
  EXPECT_EQ(summary.measured_time, Nanos(30));
}

// Worker 0 has completed its minibatches 0, 2 and 4 when worker 1 has completed only minibatch 1 of
// 1, 3 and 5.
TEST(Rate, WhereNobodyWaitsIsTakenUntilTheFirstWorkerHasNothingLeft) {
  std::vector<Event> events;
  for (const auto& [b, end] : {std::pair{0, 10}, {1, 25}, {2, 20}, {4, 30}, {3, 50}, {5, 75}})
    events.push_back(event(b % 2, backward({b, 0}), end - 5, end));
  const Summary summary =
      summary_of(events, {.stages = {{.round = 2}}, .one_by_one = true, .extent = {6, 1, 1}});
  EXPECT_EQ(summary.measured_minibatches, 4) << "three of the one, and the first of the other";
  EXPECT_EQ(summary.measured_time, Nanos(29)) << "4 / (3/30 + 1/25)";
}

// Two workers have the same speed, and the last minibatch of worker 0 ends just before that of
// worker 1.
TEST(Rate, WhereNobodyWaitsDoesNotDependOnWhoseMinibatchIsOverFirst) {
  std::vector<Event> events;
  for (const auto& [b, end] : {std::pair{0, 10}, {1, 11}, {2, 20}, {3, 21}, {4, 30}, {5, 31}})
    events.push_back(event(b % 2, backward({b, 0}), end - 5, end));
  const Summary summary = summary_of(
      events, {.stages = {{.round = 2}}, .warm_up = 2, .one_by_one = true, .extent = {6, 1, 1}});
  EXPECT_EQ(summary.measured_minibatches, 3);
  EXPECT_EQ(summary.measured_time, Nanos(15)) << "two minibatches every 10";
}

// Each worker has two warm-up minibatches. Worker 1 has completed only one of them when worker 0
// has no minibatch left.
TEST(Rate, WhereNobodyWaitsHasTheShareOfASlowWorkerToo) {
  std::vector<Event> events;
  for (const auto& [b, end] :
       {std::pair{0, 10}, {2, 20}, {4, 30}, {1, 35}, {6, 40}, {3, 70}, {5, 105}, {7, 140}})
    events.push_back(event(b % 2, backward({b, 0}), end - 5, end));
  const Summary summary = summary_of(
      events, {.stages = {{.round = 2}}, .warm_up = 4, .one_by_one = true, .extent = {8, 1, 1}});
  EXPECT_EQ(summary.measured_minibatches, 3) << "two of the one, and the third of the other";
  EXPECT_EQ(summary.measured_time, Nanos(23)) << "3 / (2/20 + 1/35) = 23.3";
}

// Workers fetch no weights before their first minibatch, which therefore takes about 10, while
// later minibatches take 300. The last minibatch of worker 1 ends just after that of worker 0.
TEST(Rate, WhereNobodyWaitsIsNeverThatOfAFirstMinibatchAlone) {
  std::vector<Event> events;
  for (const auto& [b, end] : {std::pair{0, 10}, {1, 12}, {2, 310}, {3, 312}})
    events.push_back(event(b % 2, backward({b, 0}), end - 5, end));
  const Summary summary = summary_of(
      events, {.stages = {{.round = 2}}, .warm_up = 2, .one_by_one = true, .extent = {4, 1, 1}});
  EXPECT_EQ(summary.measured_minibatches, 2);
  EXPECT_EQ(summary.measured_time, Nanos(300)) << "one each every 300";
}

TEST(Reading, IsThePartOfWaitingThatWasForTheDataSet) {
  const std::vector<Event> events{event(0, forward({0, 0}), 7, 10, 0, 7),
                                  event(0, backward({0, 0}), 10, 20)};
  EXPECT_EQ(summary_of(events, {.extent = {1, 1, 1}}).reading, Nanos(7));
}

}  // namespace
}  // namespace pipedream::timeline
