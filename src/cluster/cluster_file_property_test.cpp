#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/cluster_file.h"
#include "core/property_testing.h"

namespace pipedream::cluster {
namespace {

using test::any_of_range;

// Returns any text without control characters. It may hold a non-ASCII character.
std::string any_name() {
  std::string name;
  for (int i = any_of_range(0, 8); i > 0; --i) {
    if (any_of_range(0, 8) == 0)
      name += "ü";
    else
      name += static_cast<char>(any_of_range(32, 127));
  }
  return name;
}

// Returns any number from `least` to `most`, of any magnitude. Most are not a whole number of any
// unit.
double any_speed(double least, double most) {
  const double share = any_of_range(0, 1 << 30) / static_cast<double>(1 << 30);
  return least * std::pow(most / least, share);
}

// Returns a number below 2^61, of any magnitude.
std::int64_t any_count() {
  return any_of_range<std::int64_t>(0, std::int64_t{1} << any_of_range(1, 62));
}

Device any_device() { return {Bytes{any_count() + 1}, any_speed(0.001, 1000)}; }

Cluster any_cluster() {
  Cluster cluster;
  cluster.name = any_name();
  int workers = 1;
  for (int k = any_of_range(1, 5); k > 0; --k) {
    Level level{any_name(), any_of_range(1, 6), Bandwidth{any_speed(0.125, 1e18)},
                Nanos(any_count()), any_of_range(0, 2) == 1};
    workers *= level.count;
    cluster.levels.push_back(level);
  }
  cluster.devices.assign(static_cast<std::size_t>(workers), any_device());
  for (int k = any_of_range(0, 4); k > 0; --k)
    cluster.devices[static_cast<std::size_t>(any_of_range(0, workers))] = any_device();
  return cluster;
}

RC_GTEST_PROP(ClusterFileProperty, WhatIsWrittenIsReadBackAsTheSame, ()) {
  const Cluster cluster = any_cluster();
  RC_LOG() << to_toml(cluster);
  RC_ASSERT(parse_cluster(to_toml(cluster), "c.toml") == cluster);
}

// Returns the position of a worker: its index at each level, the innermost level first.
std::vector<int> position(const Cluster& cluster, int worker) {
  std::vector<int> digits;
  for (const Level& level : cluster.levels) {
    digits.push_back(worker % level.count);
    worker /= level.count;
  }
  return digits;
}

// Compares level_between() with its definition: the outermost level at which the positions differ.
RC_GTEST_PROP(ClusterProperty, TheLevelBetweenTwoWorkersIsTheOutermostWhereTheyDiffer, ()) {
  const Cluster cluster = any_cluster();
  for (int a = 0; a < cluster.workers(); ++a) {
    const int b = any_of_range(0, cluster.workers());
    if (a == b) continue;
    const auto of_a = position(cluster, a);
    const auto of_b = position(cluster, b);
    std::size_t wanted = cluster.levels.size() - 1;
    while (of_a[wanted] == of_b[wanted]) --wanted;
    RC_ASSERT(cluster.level_between(WorkerId{a}, WorkerId{b}) == wanted);
    RC_ASSERT(cluster.level_between(WorkerId{b}, WorkerId{a}) == wanted);
  }
}

}  // namespace
}  // namespace pipedream::cluster
