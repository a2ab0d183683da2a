#include "schedule/bulk_synchronous.h"

#include <gtest/gtest.h>

#include "schedule/schedule_testing.h"

namespace pipedream::schedule {
namespace {

using Texts = std::vector<std::string>;

TEST(BulkSynchronous, TwoWorkersLookAsInTheHeader) {
  EXPECT_EQ(pictures_of(bulk_synchronous(plan_of({2}), {4, 1, 1})),
            (Texts{"F0 B0 X1 A1 U F2 B2 X2 A2 U", "F1 B1 X1 A1 U F3 B3 X2 A2 U"}));
}

TEST(BulkSynchronous, EveryRoundUsesTheVersionThatTheOneBeforeGave) {
  EXPECT_EQ(texts_of(bulk_synchronous(plan_of({2}), {4, 1, 1}))[1],
            "F1@0 B1@0 X1 A1 U0>1 F3@1 B3@1 X2 A2 U1>2");
}

TEST(BulkSynchronous, WorkersWithoutAMinibatchInTheLastRoundAverageAndUpdateAllTheSame) {
  const Schedule schedule = bulk_synchronous(plan_of({3}), {4, 1, 1});
  EXPECT_EQ(pictures_of(schedule), (Texts{"F0 B0 X1 A1 U F3 B3 X2 A2 U", "F1 B1 X1 A1 U X2 A2 U",
                                          "F2 B2 X1 A1 U X2 A2 U"}));
  for (const Program& program : programs_of(schedule))
    EXPECT_EQ(program.ops.back(), Op(Update{StageId{0}, {1}, {2}, 3, 3}))
        << "over the minibatches there are";
}

TEST(BulkSynchronous, OneWorkerHasNobodyToAverageWith) {
  EXPECT_EQ(pictures_of(bulk_synchronous(plan_of({1}), {2, 1, 1})), Texts{"F0 B0 U F1 B1 U"});
}

TEST(BulkSynchronous, OnlyTheLastRoundOfAnUpdateAverages) {
  EXPECT_EQ(texts_of(bulk_synchronous(accumulating(plan_of({2}), 2), {7, 1, 1})),
            (Texts{"F0@0 B0@0 F2@0 B2@0 X1 A1 U0>1 F4@1 B4@1 F6@1 B6@1 X2 A2 U1>2",
                   "F1@0 B1@0 F3@0 B3@0 X1 A1 U0>1 F5@1 B5@1 X2 A2 U1>2"}));
}

}  // namespace
}  // namespace pipedream::schedule
