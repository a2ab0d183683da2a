#include "core/hosts.h"

#include <gtest/gtest.h>

namespace pipedream {
namespace {

using Groups = std::vector<std::vector<int>>;

Groups levels_of(const std::vector<int>& members, const std::vector<int>& host_of) {
  std::vector<WorkerId> ids;
  for (const int member : members) ids.push_back(WorkerId{member});
  Groups groups;
  for (const auto& host : two_levels(ids, host_of)) {
    groups.emplace_back();
    for (const WorkerId worker : host) groups.back().push_back(worker.value);
  }
  return groups;
}

TEST(TwoLevels, AreTheMembersOfEachHostInTheirOrder) {
  EXPECT_EQ(levels_of({0, 1, 2, 3}, {7, 7, 9, 9}), (Groups{{0, 1}, {2, 3}}));
  EXPECT_EQ(levels_of({3, 0, 2, 1}, {7, 7, 9, 9}), (Groups{{3, 2}, {0, 1}}));
  EXPECT_EQ(levels_of({0, 1, 3, 4}, {0, 0, 0, 3, 3, 3}), (Groups{{0, 1}, {3, 4}}));
}

TEST(TwoLevels, NeedSeveralHostsWithAsManyOnEachAndMoreThanOne) {
  EXPECT_EQ(levels_of({0, 1, 2, 3}, {}), Groups{}) << "all on one";
  EXPECT_EQ(levels_of({0, 1}, {7, 7, 9, 9}), Groups{});
  EXPECT_EQ(levels_of({0, 2}, {7, 7, 9, 9}), Groups{}) << "one on each is a plain ring";
  EXPECT_EQ(levels_of({0, 1, 2}, {7, 7, 9, 9}), Groups{});
}

}  // namespace
}  // namespace pipedream
