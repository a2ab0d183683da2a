#include "report/cluster_table.h"

#include <gtest/gtest.h>

namespace pipedream::report {
namespace {

TEST(ClusterTable, ShowsLevelsFromTheInsideOutAndDevicesInRuns) {
  cluster::Cluster cluster{
      "lab",
      {{.name = "server", .count = 4, .bandwidth = {12e9}, .latency = Nanos(5'000)},
       {.name = "rack",
        .count = 2,
        .bandwidth = {1.25e9},
        .latency = Nanos(20'000),
        .shared = true}},
      std::vector<cluster::Device>(8, {Bytes{std::int64_t{16} << 30}, 1})};
  cluster.devices[5] = {Bytes{std::int64_t{8} << 30}, 0.5};
  EXPECT_EQ(
      cluster_table(cluster),
      "lab: 8 workers\n"
      "\n"
      "level   joins  of                   bandwidth  latency  each link belongs to\n"
      "server      4  worker               96 Gbit/s     5 us  a worker\n"
      "rack        2  server of 4 workers  10 Gbit/s    20 us  the group: its workers share it\n"
      "\n"
      "workers  memory  speed\n"
      "0–4      16 GiB      1\n"
      "5         8 GiB    0.5\n"
      "6–7      16 GiB      1\n");
}

TEST(ClusterTable, ASharedLinkOfOneWorkerBelongsToIt) {
  const cluster::Cluster cluster{
      "alone",
      {{.name = "machine", .count = 1, .bandwidth = {125e6}, .shared = true}},
      {{Bytes{1 << 20}, 2.25}}};
  EXPECT_EQ(cluster_table(cluster),
            "alone: 1 worker\n"
            "\n"
            "level    joins  of      bandwidth  latency  each link belongs to\n"
            "machine      1  worker   1 Gbit/s     0 ns  a worker\n"
            "\n"
            "workers  memory  speed\n"
            "0         1 MiB   2.25\n");
}

}  // namespace
}  // namespace pipedream::report
