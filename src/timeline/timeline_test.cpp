#include "timeline/timeline.h"

#include <gtest/gtest.h>

namespace pipedream::timeline {
namespace {

using schedule::Backward;
using schedule::Forward;
using schedule::Kind;
using schedule::Load;
using schedule::Op;
using schedule::Recv;
using schedule::Send;
using schedule::Update;

// kTimeline has five ops of worker 0 and two of worker 1. The transfer between them ends last.
const Op kLoad = Load{StageId{0}, {0, 0}};
const Op kForward = Forward{StageId{0}, {0, 0}, {0}};
const Op kSend = Send{ValueId{0}, StageId{1}, {0, 0}, Kind::kActivation, WorkerId{1}};
const Op kRecv = Recv{ValueId{0}, StageId{1}, {0, 0}, Kind::kActivation, WorkerId{0}};
const Op kBackward = Backward{StageId{0}, {0, 0}, {0}};
const Op kUpdate = Update{StageId{0}, {0}, {1}, 0, 0};

const Timeline kTimeline{{{WorkerId{0}, kLoad, Nanos(0), Nanos(1)},
                          {WorkerId{0}, kForward, Nanos(1), Nanos(11)},
                          {WorkerId{1}, kRecv, Nanos(11), Nanos(900)},
                          {WorkerId{0}, kSend, Nanos(11), Nanos(900)},
                          {WorkerId{1}, kForward, Nanos(20), Nanos(420)},
                          {WorkerId{0}, kBackward, Nanos(30), Nanos(50)},
                          {WorkerId{0}, kUpdate, Nanos(50), Nanos(57)}}};

TEST(Length, IsTheEndOfTheEventThatEndsLast) { EXPECT_EQ(length(kTimeline), Nanos(900)); }

TEST(Length, OfNothingIsZero) { EXPECT_EQ(length(Timeline{}), Nanos(0)); }

TEST(ComputeTime, CountsForwardsAndBackwardsOfOneWorker) {
  EXPECT_EQ(compute_time(kTimeline, WorkerId{0}), Nanos(10 + 20));
  EXPECT_EQ(compute_time(kTimeline, WorkerId{1}), Nanos(400));
  EXPECT_EQ(compute_time(kTimeline, WorkerId{2}), Nanos(0));
}

TEST(OpsOf, KeepsTheOrderOfOneWorker) {
  EXPECT_EQ(ops_of(kTimeline, WorkerId{0}),
            (std::vector{kLoad, kForward, kSend, kBackward, kUpdate}));
  EXPECT_EQ(ops_of(kTimeline, WorkerId{1}), (std::vector{kRecv, kForward}));
  EXPECT_EQ(ops_of(kTimeline, WorkerId{2}), std::vector<Op>{});
}

TEST(ComputeLane, HoldsComputeUpdatesAndWaitsForAveragesButNoCommunication) {
  const StageId stage{0};
  for (const Op& op : {kForward, kBackward, kUpdate, Op(schedule::Recompute{stage, {0, 0}, {0}}),
                       Op(schedule::Await{stage, {1}})})
    EXPECT_TRUE(on_compute_lane(op)) << to_text(op);
  for (const Op& op : {kLoad, kSend, kRecv, Op(schedule::Reduce{stage, {1}}),
                       Op(schedule::Push{stage, {0, 0}}), Op(schedule::Pull{stage, {1}})})
    EXPECT_FALSE(on_compute_lane(op)) << to_text(op);
}

TEST(Timeline, EqualsOneWithTheSameWorkersOpsAndTimes) {
  Timeline other = kTimeline;
  EXPECT_EQ(other, kTimeline);
  other.events[1].worker = WorkerId{1};
  EXPECT_NE(other, kTimeline);
  other = kTimeline;
  other.events[1].op = kBackward;
  EXPECT_NE(other, kTimeline);
  other = kTimeline;
  other.events[1].start += Nanos(1);
  EXPECT_NE(other, kTimeline);
  other = kTimeline;
  other.events[1].end += Nanos(1);
  EXPECT_NE(other, kTimeline);
  other = kTimeline;
  other.events[1].transfer += Nanos(1);
  EXPECT_NE(other, kTimeline);
  other = kTimeline;
  other.events[1].wait += Nanos(1);
  EXPECT_NE(other, kTimeline);
}

}  // namespace
}  // namespace pipedream::timeline
