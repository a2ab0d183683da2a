#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/error.h"
#include "core/property_testing.h"
#include "cost/links.h"
#include "probe/infer.h"

namespace pipedream::probe {
namespace {

using test::any_of_range;

// A number with three digits that count, so that rounding leaves it.
std::int64_t any_three_digits(int most_zeros) {
  std::int64_t number = any_of_range(100, 1000);
  for (int zeros = any_of_range(0, most_zeros + 1); zeros > 0; --zeros) number *= 10;
  return number;
}

cluster::Level any_level(const std::string& name, int count, bool shared) {
  return {name, count, Bandwidth{static_cast<double>(any_three_digits(9)) / 8},
          Nanos(any_three_digits(6)), shared};
}

// Any speed that is not nearly that of worker 0.
double any_other_speed() {
  const int percent = any_of_range(10, 400);
  return percent > 94 && percent < 106 ? 1 : percent / 100.0;
}

// Any cluster that can be told by measuring: of one host, of hosts of one worker, or of hosts of
// several workers.
cluster::Cluster any_cluster() {
  const int each = any_of_range(1, 6);
  const int hosts = any_of_range(each == 1 ? 2 : 1, 6);
  cluster::Cluster cluster;
  if (each > 1) cluster.levels.push_back(any_level("host", each, false));
  if (hosts > 1)
    cluster.levels.push_back(any_level("network", hosts, each > 1 && any_of_range(0, 2) == 1));
  const Bytes memory{any_of_range<std::int64_t>(1, 1000) << 20};
  for (int w = 0; w < each * hosts; ++w)
    cluster.devices.push_back({memory, w == 0 ? 1 : any_other_speed()});
  return cluster;
}

// The speed of all `pairs` together by the cost model, if they send both ways at the same time.
Bandwidth speed_by_the_cost_model(const cost::Links& links,
                                  const std::vector<std::pair<int, int>>& pairs) {
  cost::LinkLoads loads(links);
  for (const auto& [a, b] : pairs)
    loads.add_transfer(std::vector{WorkerId{a}}, std::vector{WorkerId{b}}, 1e6);
  return {static_cast<double>(pairs.size()) * 1e6 / loads.busiest().time.count()};
}

Rates same(Bandwidth speed) { return {speed, speed}; }

// What measuring would give on a cluster that is exactly as the cost model says.
Measured measured_exactly(const cluster::Cluster& cluster) {
  const cost::Links links(cluster);
  const bool has_inside = cluster.levels.front().name == "host";
  const bool has_between = cluster.levels.back().name == "network";
  Measured measured;
  measured.workers_each = has_inside ? cluster.levels.front().count : 1;
  const int hosts = has_between ? cluster.levels.back().count : 1;
  for (int h = 0; h < hosts; ++h) measured.hosts.push_back("host-" + std::to_string(h));
  if (has_inside) {
    const Nanos latency = cost::transfer_time(cluster, {0}, {1}, Bytes{0});
    measured.inside = {latency, same(speed_by_the_cost_model(links, {{0, 1}}))};
  }
  for (int h = 1; h < hosts; ++h) {
    const int first = h * measured.workers_each;
    std::vector<std::pair<int, int>> all;
    for (int i = 0; i < measured.workers_each; ++i) all.emplace_back(i, first + i);
    measured.between.push_back({0, h, cost::transfer_time(cluster, {0}, {first}, Bytes{0}),
                                same(speed_by_the_cost_model(links, {all.front()})),
                                same(speed_by_the_cost_model(links, all))});
  }
  const double unit = any_of_range(1, 1000) / 10.0;
  for (const cluster::Device& device : cluster.devices)
    measured.workers.push_back({device.memory, device.speed * unit});
  return measured;
}

RC_GTEST_PROP(InferProperty, ExactMeasurementsOfAClusterGiveThatCluster, ()) {
  const cluster::Cluster cluster = any_cluster();
  const cluster::Cluster found = infer(measured_exactly(cluster));
  RC_ASSERT(found.levels.size() == cluster.levels.size());
  for (std::size_t k = 0; k < cluster.levels.size(); ++k) {
    const cluster::Level& is = found.levels[k];
    const cluster::Level& should_be = cluster.levels[k];
    RC_ASSERT(is.name == should_be.name && is.count == should_be.count);
    RC_ASSERT(is.latency == should_be.latency && is.shared == should_be.shared);
    RC_ASSERT(std::abs(is.bandwidth.bytes_per_second / should_be.bandwidth.bytes_per_second - 1) <
              1e-9);
  }
  RC_ASSERT(found.devices == cluster.devices);
}

// Measurements that are off by a few per cent give a cluster that is off by as much.
RC_GTEST_PROP(InferProperty, InexactMeasurementsGiveNearlyTheSameLinks, ()) {
  const cluster::Cluster cluster = any_cluster();
  Measured measured = measured_exactly(cluster);
  const auto blur = [](Bandwidth& speed) {
    speed.bytes_per_second *= 1 - any_of_range(0, 100) / 1000.0;
  };
  for (BetweenHosts& link : measured.between)
    for (Rates* rates : {&link.one_pair, &link.all_pairs}) {
      blur(rates->one_way);
      blur(rates->both_ways);
    }
  const cluster::Cluster found = infer(measured);
  for (std::size_t k = 0; k < cluster.levels.size(); ++k) {
    RC_ASSERT(found.levels[k].shared == cluster.levels[k].shared);
    const double share =
        found.levels[k].bandwidth.bytes_per_second / cluster.levels[k].bandwidth.bytes_per_second;
    RC_ASSERT(share > 0.89 && share < 1.01);
  }
}

// hosts_of() accepts exactly the worlds that a cluster file can number.
RC_GTEST_PROP(InferProperty, HostsAreAcceptedIfTheyAreConsecutiveAndOfEqualSize, ()) {
  std::vector<int> host_of;
  const int workers = any_of_range(2, 9);
  for (int w = 0; w < workers; ++w)
    host_of.push_back(any_of_range(0, 3) == 0 || w == 0 ? any_of_range(0, w + 1) : host_of.back());
  const int each = static_cast<int>(std::count(host_of.begin(), host_of.end(), host_of[0]));
  bool describable = workers % each == 0;
  for (int w = 0; describable && w < workers; ++w)
    for (int v = 0; v < workers; ++v)
      describable = describable && (host_of[static_cast<std::size_t>(v)] ==
                                    host_of[static_cast<std::size_t>(w)]) == (v / each == w / each);
  const std::vector<std::string> names(host_of.size(), "x");
  try {
    const Hosts hosts = hosts_of(host_of, names);
    RC_ASSERT(describable);
    RC_ASSERT(hosts.workers_each == each && hosts.count() == workers / each);
  } catch (const CannotMeet&) {
    RC_ASSERT(!describable);
  }
}

}  // namespace
}  // namespace pipedream::probe
