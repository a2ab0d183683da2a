#include "schedule/model_parallel.h"

#include <gtest/gtest.h>

#include "schedule/schedule_testing.h"

namespace pipedream::schedule {
namespace {

using Texts = std::vector<std::string>;

TEST(ModelParallel, ThreeStagesLookAsInTheHeader) {
  EXPECT_EQ(pictures_of(model_parallel(plan_of({1, 1, 1}), {2, 1, 1})),
            (Texts{"F0 B0 U F1 B1 U", "F0 B0 U F1 B1 U", "F0 B0 U F1 B1 U"}));
}

TEST(ModelParallel, EveryMinibatchUsesTheVersionThatTheOneBeforeGave) {
  EXPECT_EQ(texts_of(model_parallel(plan_of({1}), {3, 1, 1})),
            Texts{"F0@0 B0@0 U0>1 F1@1 B1@1 U1>2 F2@2 B2@2 U2>3"});
}

TEST(ModelParallel, HasOneItemInFlightAndFlushes) {
  const Rules rules = model_parallel(plan_of({1, 1}), {3, 1, 1}).rules;
  EXPECT_EQ(rules.in_flight, (std::vector<int>{1, 1}));
  EXPECT_TRUE(rules.traits.flushes);
}

TEST(ModelParallel, ProgramsGoToTheWorkersOfThePlan) {
  plan::Plan plan = plan_of({1, 1});
  plan.stages[0].workers = {WorkerId{5}};
  const auto programs = programs_of(model_parallel(plan, {1, 1, 1}));
  ASSERT_EQ(programs.size(), 2U);
  EXPECT_EQ(programs[0].worker, WorkerId{5});
  EXPECT_EQ(programs[1].worker, WorkerId{1});
}

TEST(ModelParallel, MinibatchesOfOneUpdateFollowEachOther) {
  EXPECT_EQ(texts_of(model_parallel(accumulating(plan_of({1}), 2), {3, 1, 1})),
            Texts{"F0@0 B0@0 F1@0 B1@0 U0>1 F2@1 B2@1 U1>2"});
}

}  // namespace
}  // namespace pipedream::schedule
