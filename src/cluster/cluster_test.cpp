#include "cluster/cluster.h"

#include <gtest/gtest.h>

namespace pipedream::cluster {
namespace {

// Returns a cluster of 2 racks with 3 servers each and 4 workers per server.
Cluster three_levels() {
  Cluster cluster;
  for (const int count : {4, 3, 2}) cluster.levels.push_back({.name = "", .count = count});
  cluster.devices.resize(24);
  return cluster;
}

TEST(Cluster, CountsTheWorkersInsideAComponent) {
  const Cluster cluster = three_levels();
  EXPECT_EQ(cluster.workers(), 24);
  EXPECT_EQ(cluster.workers_per_component(0), 1);
  EXPECT_EQ(cluster.workers_per_component(1), 4);
  EXPECT_EQ(cluster.workers_per_component(2), 12);
  EXPECT_EQ(cluster.workers_per_component(3), 24);
}

TEST(Cluster, TheInnermostLevelCountsFastest) {
  const Cluster cluster = three_levels();
  EXPECT_EQ(cluster.level_between(WorkerId{0}, WorkerId{3}), 0U) << "one server";
  EXPECT_EQ(cluster.level_between(WorkerId{3}, WorkerId{4}), 1U) << "neighbouring servers";
  EXPECT_EQ(cluster.level_between(WorkerId{0}, WorkerId{11}), 1U) << "one rack";
  EXPECT_EQ(cluster.level_between(WorkerId{11}, WorkerId{12}), 2U) << "neighbouring racks";
  EXPECT_EQ(cluster.level_between(WorkerId{23}, WorkerId{0}), 2U) << "either way round";
}

TEST(Cluster, ALevelOfOneJoinsNobody) {
  Cluster cluster;
  for (const int count : {1, 2}) cluster.levels.push_back({.name = "", .count = count});
  cluster.devices.resize(2);
  EXPECT_EQ(cluster.level_between(WorkerId{0}, WorkerId{1}), 1U);
}

TEST(Hosts, AreTheComponentsOfTheOuterOfTwoLevels) {
  Cluster cluster = three_levels();
  EXPECT_TRUE(hosts(cluster).empty()) << "three levels";
  cluster.levels = {{.name = "", .count = 2}, {.name = "", .count = 3}};
  cluster.devices.resize(6);
  EXPECT_EQ(hosts(cluster), (std::vector<int>{0, 0, 1, 1, 2, 2}));
  cluster.levels = {{.name = "", .count = 6}};
  EXPECT_TRUE(hosts(cluster).empty()) << "one level";
}

TEST(ClusterDeathTest, AWorkerHasNoLinkToItselfOrToStrangers) {
  const Cluster cluster = three_levels();
  EXPECT_DEATH((void)cluster.level_between(WorkerId{1}, WorkerId{1}), "'a != b' does not hold");
  EXPECT_DEATH((void)cluster.level_between(WorkerId{1}, WorkerId{24}), "b.value < workers");
}

}  // namespace
}  // namespace pipedream::cluster
