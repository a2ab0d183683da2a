#include "runtime/placing.h"

#include <gtest/gtest.h>

namespace pipedream::runtime {
namespace {

using Workers = std::vector<WorkerId>;

TEST(CoreShares, AreOfTheProcessesOfOneMachineThatMayUseTheSameCores) {
  const auto shares = core_shares({{"a", {0, 1, 2, 3}, 4},
                                   {"b", {0, 1, 2, 3}, 4},
                                   {"a", {0, 1, 2, 3}, 4},
                                   {"b", {0, 1, 2, 3}, 4}});
  EXPECT_EQ(shares[0], (Workers{{0}, {2}}));
  EXPECT_EQ(shares[2], (Workers{{0}, {2}}));
  EXPECT_EQ(shares[3], (Workers{{1}, {3}}));
}

TEST(CoreShares, OfProcessesWithCoresOfTheirOwnHaveOneMember) {
  const auto shares = core_shares({{"a", {0, 1}, 4}, {"a", {2, 3}, 4}});
  EXPECT_EQ(shares[0], (Workers{{0}}));
  EXPECT_EQ(shares[1], (Workers{{1}}));
}

TEST(CoreShares, OfProcessesThatShareSomeCoresAreLeftToTheSystem) {
  const auto shares = core_shares({{"a", {0, 1}, 4}, {"a", {1, 2}, 4}, {"a", {3}, 4}});
  EXPECT_TRUE(shares[0].empty());
  EXPECT_TRUE(shares[1].empty());
  EXPECT_EQ(shares[2], (Workers{{2}}));
}

TEST(TightBinding, IsToldIfMessagesMustWaitForComputation) {
  EXPECT_EQ(tight_binding_note({{"a", {0}, 4}, {"a", {1, 2}, 4}}, 1),
            "1 of 2 processes may run on no more cores than they compute with, so their messages "
            "wait until computation leaves a core: start mpirun with --bind-to none, or give each "
            "process a core more");
}

TEST(TightBinding, IsNotToldOfAMachineThatHasNoMoreCores) {
  EXPECT_EQ(tight_binding_note({{"a", {0}, 1}, {"b", {0}, 1}}, 1), "");
  EXPECT_EQ(tight_binding_note({{"a", {0}, 4}}, 1), "") << "one process sends no messages";
}

}  // namespace
}  // namespace pipedream::runtime
