#include "place/placement.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace pipedream::place {
namespace {

Topology two_nodes_of_two_cores() { return {{{{0, 4}, 0}, {{1, 5}, 0}, {{2, 6}, 1}, {{3, 7}, 1}}}; }

TEST(Placement, GivesEachWorkerWholeCoresWhereThereAreEnough) {
  EXPECT_EQ(placement(two_nodes_of_two_cores(), 0, 4, 1)->compute, (Units{0, 4}));
  EXPECT_EQ(placement(two_nodes_of_two_cores(), 3, 4, 1)->compute, (Units{3, 7}));
}

TEST(Placement, SpreadsFewWorkersOverTheNodes) {
  EXPECT_EQ(placement(two_nodes_of_two_cores(), 0, 2, 1)->compute, (Units{0, 4}));
  EXPECT_EQ(placement(two_nodes_of_two_cores(), 1, 2, 1)->compute, (Units{2, 6}));
}

TEST(Placement, LetsTheOtherThreadsRunOnAllCoresOfTheNode) {
  EXPECT_EQ(placement(two_nodes_of_two_cores(), 1, 2, 1)->others, (Units{2, 3, 6, 7}));
}

TEST(Placement, DividesCoresIntoHardwareThreadsIfWorkersAreMoreThanCores) {
  EXPECT_EQ(placement(two_nodes_of_two_cores(), 0, 8, 1)->compute, (Units{0}));
  EXPECT_EQ(placement(two_nodes_of_two_cores(), 7, 8, 1)->compute, (Units{7}));
  EXPECT_EQ(placement(two_nodes_of_two_cores(), 7, 8, 1)->others, (Units{2, 3, 6, 7}));
}

TEST(Placement, LeavesMoreThreadsThanTheMachineHasToTheSystem) {
  EXPECT_FALSE(placement(two_nodes_of_two_cores(), 0, 9, 1));
  EXPECT_FALSE(placement(two_nodes_of_two_cores(), 0, 3, 3));
  EXPECT_FALSE(placement({}, 0, 1, 1));
}

TEST(Placement, LeavesOutCoresThatAreTaken) {
  const Topology free = without(two_nodes_of_two_cores(), {5});
  EXPECT_EQ(units_of(free), (Units{0, 2, 3, 4, 6, 7}));
  EXPECT_EQ(placement(free, 1, 3, 1)->compute, (Units{2, 6}));
}

TEST(ChooseCores, GivesAPlaceToAllOrToNone) {
  const ChosenCores cores = choose_cores(1, 1);
  EXPECT_LE(cores.by_worker.size(), 1U);  // none if other programs use all cores
  EXPECT_TRUE(choose_cores(4096, 4).by_worker.empty());
}

TEST(ChooseCores, GivesEachOfTwoTrainingsItsOwn) {
  const ChosenCores first = choose_cores(1, 1);
  const ChosenCores second = choose_cores(1, 1);
  if (first.by_worker.empty() || second.by_worker.empty()) return;  // there are too few idle ones
  for (const int unit : first.by_worker[0].compute)
    EXPECT_EQ(
        std::count(second.by_worker[0].compute.begin(), second.by_worker[0].compute.end(), unit),
        0);
}

TEST(Topology, OfTwoNodesIsReadFromHwloc) {
  const Topology topology = made_up("node:2 core:2 pu:2");
  if (topology.cores.empty()) return;  // built without hwloc
  ASSERT_EQ(topology.cores.size(), 4U);
  EXPECT_EQ(topology.cores[0].units.size(), 2U);
  EXPECT_EQ(topology.cores[1].node, 0);
  EXPECT_EQ(topology.cores[2].node, 1);
}

TEST(Topology, HasWhatTheThreadMayUse) {
  EXPECT_EQ(units_of(usable()), own_units());
  const Bound bound({own_units().front()}, {});
  EXPECT_EQ(units_of(usable()), Units{own_units().front()});
}

}  // namespace
}  // namespace pipedream::place
