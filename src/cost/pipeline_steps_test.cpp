#include "cost/pipeline_steps.h"

#include <gtest/gtest.h>

#include "cost/gpipe_time.h"

namespace pipedream::cost {
namespace {

// Three stages of 3 s forward and 5 s backward, with one item.
PipelineCosts three_stages(std::vector<TransferCosts> transfers) {
  PipelineCosts costs;
  for (int s = 0; s < 3; ++s)
    costs.stages.push_back({.forward = Seconds(3), .backward = Seconds(5)});
  costs.transfers = std::move(transfers);
  return costs;
}

TEST(PipelineSteps, OfAChainAreItsStagesAndTransfers) {
  const PipelineSteps steps =
      pipeline_steps(three_stages({{0, 1, Seconds(1)}, {1, 2, Seconds(2)}}));
  ASSERT_EQ(steps.times.size(), 5U);
  for (const auto& [step, time] : {std::pair{1, 1}, {3, 2}}) {
    EXPECT_EQ(steps.times[step].forward, Seconds(time));
    EXPECT_EQ(steps.times[step].backward, Seconds(time));
  }
  EXPECT_EQ(steps.slowest_beside, Seconds(0));
}

// The value for stage 2 leaves stage 0 after 3 s. Stage 1 ends after 7 s, its value arrives 2 s
// later.
TEST(PipelineSteps, LeaveOutAValueThatArrivesWhileTheStagesBetweenCompute) {
  const PipelineSteps steps =
      pipeline_steps(three_stages({{0, 1, Seconds(1)}, {0, 2, Seconds(6)}, {1, 2, Seconds(2)}}));
  EXPECT_EQ(steps.times[3].forward, Seconds(2));
  EXPECT_EQ(steps.slowest_beside, Seconds(6));
}

// The value for stage 2 arrives after 3 + 20 s, the gradient for stage 0 after 5 + 20 s.
TEST(PipelineSteps, HaveThePartOfALateValueThatNothingHides) {
  const PipelineSteps steps =
      pipeline_steps(three_stages({{0, 1, Seconds(1)}, {0, 2, Seconds(20)}, {1, 2, Seconds(2)}}));
  EXPECT_EQ(steps.times[3].forward, Seconds(23 - 7));
  EXPECT_EQ(steps.times[1].backward, Seconds(25 - 12));
}

// Both values leave stage 0 at the same time. Until the smaller one has arrived, each has half of
// the link. So what takes 1 s alone takes 2 s. The larger one arrives in time nevertheless.
TEST(TimeOfSharing, IsWhatValuesThatLeaveTogetherLoseToEachOther) {
  const PipelineCosts costs =
      three_stages({{0, 1, Seconds(1)}, {0, 2, Seconds(2)}, {1, 2, Seconds(0)}});
  EXPECT_EQ(time_of_sharing(costs), Seconds(1));
  EXPECT_EQ(gpipe_time(costs).per_minibatch, Seconds(3 * (3 + 5) + 1 + 1 + 1));
  EXPECT_EQ(time_of_sharing(three_stages({{0, 1, Seconds(1)}, {1, 2, Seconds(2)}})), Seconds(0));
}

}  // namespace
}  // namespace pipedream::cost
