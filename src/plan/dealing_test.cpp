#include "plan/dealing.h"

#include <gtest/gtest.h>

namespace pipedream::plan {
namespace {

using Workers = std::vector<std::vector<WorkerId>>;

TEST(Dealing, StageSIsOnWorkerSModuloTheirNumber) {
  EXPECT_EQ(deal_out(4, 2), (Workers{{{0}}, {{1}}, {{0}}, {{1}}}));
  EXPECT_EQ(deal_out(3, 3), (Workers{{{0}}, {{1}}, {{2}}}));
}

TEST(Dealing, WhatIsDealtOutIsRecognised) {
  for (int workers = 1; workers <= 5; ++workers)
    for (int chunks = 1; chunks <= 4; ++chunks)
      EXPECT_EQ(dealt_out_to(deal_out(workers * chunks, workers)), workers);
}

TEST(Dealing, TheWorkersMayComeInAnyOrder) {
  EXPECT_EQ(dealt_out_to(Workers{{{2}}, {{0}}, {{2}}, {{0}}}), 2);
}

TEST(Dealing, AnythingElseIsNot) {
  EXPECT_EQ(dealt_out_to(Workers{{{0}}, {{0}}, {{1}}, {{1}}}), std::nullopt) << "not in turn";
  EXPECT_EQ(dealt_out_to(Workers{{{0}}, {{1}}, {{0}}}), std::nullopt) << "one has more";
  EXPECT_EQ(dealt_out_to(Workers{{{0}, {1}}, {{2}, {3}}}), std::nullopt) << "replicas";
  EXPECT_EQ(dealt_out_to(Workers{{{0}}, {{1}}, {{1}}, {{0}}}), std::nullopt) << "another order";
  EXPECT_EQ(dealt_out_to(Workers{}), std::nullopt);
}

}  // namespace
}  // namespace pipedream::plan
