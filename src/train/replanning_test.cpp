#include "train/replanning.h"

#include <gtest/gtest.h>

namespace pipedream::train {
namespace {

OddWorkers slow_second_worker(double ratio) {
  return {.lasted = Seconds(60), .found = {{WorkerId{1}, ratio, 1}}, .ratios = {1, ratio}};
}

TEST(SlowedDown, DividesTheSpeedsThatTheClusterHas) {
  const cluster::Cluster cluster{
      .name = "two",
      .levels = {{.name = "host", .count = 2, .bandwidth = {1e9}}},
      .devices = {{.memory = {1}, .speed = 1}, {.memory = {1}, .speed = 0.5}}};
  const cluster::Cluster slow = slowed_down(cluster, {1.25, 2});
  EXPECT_DOUBLE_EQ(slow.devices[0].speed, 0.8);
  EXPECT_DOUBLE_EQ(slow.devices[1].speed, 0.25);
  EXPECT_EQ(slow.levels, cluster.levels);
}

TEST(Replanner, PlansOnceForEachPieceOfNews) {
  std::vector<std::vector<double>> planned_for;
  Replanner replanner([&](const std::vector<double>& ratios) -> std::optional<Replanned> {
    planned_for.push_back(ratios);
    if (ratios[1] < 2) return std::nullopt;
    return Replanned{.plan = {}, .cluster = {}, .before = 100, .after = 150};
  });
  EXPECT_FALSE(replanner.wants_stop());
  EXPECT_TRUE(planned_for.empty());

  replanner.tell(slow_second_worker(1.2));
  EXPECT_FALSE(replanner.wants_stop()) << "there is no better plan";
  EXPECT_FALSE(replanner.wants_stop());
  EXPECT_EQ(planned_for.size(), 1U) << "nothing new was told";

  replanner.tell(slow_second_worker(1.5));
  replanner.tell(slow_second_worker(3));
  EXPECT_TRUE(replanner.wants_stop());
  EXPECT_TRUE(replanner.wants_stop());
  EXPECT_EQ(planned_for, (std::vector<std::vector<double>>{{1, 1.2}, {1, 3}}));
  EXPECT_EQ(replanner.found()->after, 150);
}

}  // namespace
}  // namespace pipedream::train
