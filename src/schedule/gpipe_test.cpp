#include "schedule/gpipe.h"

#include <gtest/gtest.h>

#include "schedule/schedule_testing.h"

namespace pipedream::schedule {
namespace {

using Texts = std::vector<std::string>;

TEST(Gpipe, TwoStagesAndThreeMicrobatchesLookAsInTheHeader) {
  EXPECT_EQ(pictures_of(gpipe(plan_of({1, 1}), {1, 3, 3})),
            (Texts{"F0 F0.1 F0.2 B0 B0.1 B0.2 U", "F0 F0.1 F0.2 B0 B0.1 B0.2 U"}));
}

TEST(Gpipe, AStageThatRecomputesRunsEachForwardAgainRightBeforeItsBackward) {
  plan::Plan plan = plan_of({1, 1});
  plan.stages[0].recompute = true;
  EXPECT_EQ(texts_of(gpipe(plan, {1, 3, 3})),
            (Texts{"F0@0 F0.1@0 F0.2@0 C0@0 B0@0 C0.1@0 B0.1@0 C0.2@0 B0.2@0 U0>1",
                   "F0@0 F0.1@0 F0.2@0 B0@0 B0.1@0 B0.2@0 U0>1"}));
}

TEST(Gpipe, AllMicrobatchesOfAMinibatchUseTheSameVersionAndAShortLastOneHasFewer) {
  EXPECT_EQ(texts_of(gpipe(plan_of({1}), {2, 3, 2})),
            Texts{"F0@0 F0.1@0 F0.2@0 B0@0 B0.1@0 B0.2@0 U0>1 F1@1 F1.1@1 B1@1 B1.1@1 U1>2"});
}

TEST(Gpipe, AllMicrobatchesMayBeInFlight) {
  const Rules rules = gpipe(plan_of({1, 1}), {2, 3, 2}).rules;
  EXPECT_EQ(rules.in_flight, (std::vector<int>{3, 3}));
  EXPECT_TRUE(rules.traits.flushes);
}

TEST(Gpipe, MinibatchesOfOneUpdateFollowEachOther) {
  EXPECT_EQ(texts_of(gpipe(accumulating(plan_of({1}), 2), {3, 2, 1})),
            Texts{"F0@0 F0.1@0 B0@0 B0.1@0 F1@0 F1.1@0 B1@0 B1.1@0 U0>1 F2@1 B2@1 U1>2"});
}

}  // namespace
}  // namespace pipedream::schedule
