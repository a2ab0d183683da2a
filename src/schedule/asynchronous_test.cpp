#include "schedule/asynchronous.h"

#include <gtest/gtest.h>

#include "schedule/schedule_testing.h"

namespace pipedream::schedule {
namespace {

using Texts = std::vector<std::string>;

TEST(Asynchronous, TwoWorkersLookAsInTheHeader) {
  EXPECT_EQ(texts_of(asynchronous(plan_of({2}), {4, 1, 1})),
            (Texts{"F0@0 B0@0 P0 G1 F2@1 B2@1 P2 G2", "F1@0 B1@0 P1 G1 F3@1 B3@1 P3 G2"}));
}

TEST(Asynchronous, WorkersWithoutAMinibatchInTheLastRoundEndEarlier) {
  EXPECT_EQ(texts_of(asynchronous(plan_of({3}), {4, 1, 1})),
            (Texts{"F0@0 B0@0 P0 G1 F3@1 B3@1 P3 G2", "F1@0 B1@0 P1 G1", "F2@0 B2@0 P2 G1"}));
}

TEST(Asynchronous, NobodyWaitsForAnybody) {
  EXPECT_TRUE(asynchronous(plan_of({2}), {4, 1, 1}).rules.traits.asynchronous);
}

}  // namespace
}  // namespace pipedream::schedule
