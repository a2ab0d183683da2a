#include "probe/infer.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"

namespace pipedream::probe {
namespace {

using test::message_of;

constexpr Bytes kMemory{std::int64_t{8} << 30};

Bandwidth megabits(double number) { return {number * 1e6 / 8}; }
Rates rates(double one_way, double both_ways) { return {megabits(one_way), megabits(both_ways)}; }

std::vector<OfWorker> equal_workers(int count) {
  return std::vector<OfWorker>(static_cast<std::size_t>(count), OfWorker{kMemory, 40});
}

// Two hosts with `each` workers, joined by a link of 1000 Mbit/s that the workers share.
Measured two_hosts(int each) {
  Measured measured{{"a", "b"}, each, {}, {}, equal_workers(2 * each)};
  if (each > 1) measured.inside = {Nanos(5'000), rates(20'000, 20'000)};
  measured.between.push_back({0, 1, Nanos(100'000), rates(1000, 1000), rates(1000, 1000)});
  return measured;
}

Hosts hosts_named(const std::vector<int>& host_of) {
  std::vector<std::string> names;
  for (const int host : host_of) names.push_back("host-" + std::to_string(host));
  return hosts_of(host_of, names);
}

TEST(ProbedHosts, HaveTheirFirstWorkersAndTheirNumberOfWorkers) {
  const Hosts hosts = hosts_named({0, 0, 2, 2, 4, 4});
  EXPECT_EQ(hosts.first, (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(hosts.workers_each, 2);
  EXPECT_EQ(hosts.worker(2, 1), 5);
}

TEST(ProbedHosts, AreRefusedIfTheyHaveUnequalNumbersOfWorkers) {
  const std::string message = message_of<CannotMeet>([] { (void)hosts_named({0, 0, 0, 3, 3, 5}); });
  EXPECT_NE(message.find("found 3 on host-0, 2 on host-3, 1 on host-5"), std::string::npos)
      << message;
  EXPECT_NE(message.find("mpirun -H a:2,b:2"), std::string::npos) << message;
}

TEST(ProbedHosts, AreRefusedIfTheirWorkersAreNotConsecutive) {
  const std::string message = message_of<CannotMeet>([] { (void)hosts_named({0, 1, 0, 1}); });
  EXPECT_NE(message.find("workers 0 and 2 on host-0, and 1 between them on host-1"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("--map-by slot"), std::string::npos) << message;
}

TEST(ProbedHosts, AreRefusedIfThereIsOneWorker) {
  EXPECT_NE(message_of<CannotMeet>([] { (void)hosts_named({0}); }).find("found one"),
            std::string::npos);
}

TEST(InferredCluster, OfOneHostHasOneLevel) {
  Measured measured{{"a"}, 4, {}, {}, equal_workers(4)};
  measured.inside = {Nanos(12'345), rates(20'000, 18'765)};
  const cluster::Cluster cluster = infer(measured);
  ASSERT_EQ(cluster.levels.size(), 1U);
  EXPECT_EQ(cluster.levels[0], (cluster::Level{"host", 4, megabits(18'800), Nanos(12'300), false}));
  EXPECT_EQ(cluster.devices, std::vector<cluster::Device>(4, {kMemory, 1}));
}

TEST(InferredCluster, OfHostsWithOneWorkerHasOneLevelToo) {
  const cluster::Cluster cluster = infer(two_hosts(1));
  ASSERT_EQ(cluster.levels.size(), 1U);
  EXPECT_EQ(cluster.levels[0],
            (cluster::Level{"network", 2, megabits(1000), Nanos(100'000), false}));
}

TEST(InferredCluster, HasASharedLinkIfAllWorkersOfAHostAreAsFastAsOne) {
  Measured measured = two_hosts(4);
  measured.between[0].all_pairs = rates(1200, 1100);
  const cluster::Level network = infer(measured).levels.at(1);
  EXPECT_TRUE(network.shared);
  EXPECT_EQ(network.bandwidth, megabits(1100));
}

TEST(InferredCluster, HasALinkPerWorkerIfAllWorkersOfAHostAreFasterTogether) {
  Measured measured = two_hosts(4);
  measured.between[0].all_pairs = rates(3900, 3600);
  const cluster::Level network = infer(measured).levels.at(1);
  EXPECT_FALSE(network.shared);
  EXPECT_EQ(network.bandwidth, megabits(900));
}

TEST(InferredCluster, TakesTheLowerOfOneWayAndBothWays) {
  Measured measured = two_hosts(1);
  measured.between[0].one_pair = measured.between[0].all_pairs = rates(96, 88);
  EXPECT_EQ(infer(measured).levels[0].bandwidth, megabits(88));
  measured.between[0].one_pair = measured.between[0].all_pairs = rates(88, 96);
  EXPECT_EQ(infer(measured).levels[0].bandwidth, megabits(88));
}

TEST(InferredCluster, HasTheBandwidthOfTheSlowestHost) {
  Measured measured = two_hosts(1);
  measured.hosts = {"a", "b", "c", "d"};
  measured.workers = equal_workers(4);
  measured.between.push_back({2, 3, Nanos(300'000), rates(50, 50), rates(50, 50)});
  EXPECT_EQ(infer(measured).levels[0].bandwidth, megabits(50));
  EXPECT_EQ(infer(measured).levels[0].count, 4);
}

TEST(InferredCluster, HasSpeedsRelativeToWorkerZeroIfTheyDifferByMoreThanFivePerCent) {
  Measured measured = two_hosts(2);
  measured.workers = {{kMemory, 40}, {kMemory, 41.9}, {kMemory, 38.1}, {kMemory, 20.1}};
  std::vector<double> speeds;
  for (const cluster::Device& device : infer(measured).devices) speeds.push_back(device.speed);
  EXPECT_EQ(speeds, (std::vector<double>{1, 1, 1, 0.5}));
}

TEST(InferredCluster, HasNoSpeedsThatTheRoundsOfAWorkerDoNotAgreeOn) {
  Measured measured = two_hosts(1);
  measured.workers = {{kMemory, 40, 0.02}, {kMemory, 30, 0.3}};
  EXPECT_EQ(infer(measured).devices[1].speed, 1);
  measured.workers[1].unsteady = 0.2;
  EXPECT_EQ(infer(measured).devices[1].speed, 0.75);
}

TEST(InferredCluster, HasOneMemoryForDevicesOfNearlyTheSame) {
  Measured measured = two_hosts(2);
  const Bytes smaller{kMemory.count - (std::int64_t{100} << 20) - 1};
  measured.workers = {{kMemory}, {kMemory}, {smaller}, {Bytes{2 * kMemory.count}}};
  const std::vector<cluster::Device> devices = infer(measured).devices;
  const Bytes whole{(smaller.count >> 20) << 20};
  EXPECT_EQ(devices[0].memory, whole);
  EXPECT_EQ(devices[2].memory, whole);
  EXPECT_EQ(devices[3].memory.count, 2 * kMemory.count);
}

bool has(const std::vector<std::string>& all, const std::string& part) {
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& each) { return each.find(part) != each.npos; });
}

TEST(ProbeRemarks, AreNoneIfTheClusterSaysAll) {
  const std::vector<Averaged> averaged{{false, 4, Bytes{1 << 20}, Nanos(1'050), Nanos(1'000)}};
  EXPECT_EQ(remarks(two_hosts(2), averaged), std::vector<std::string>{});
}

TEST(ProbeRemarks, SayWhatAClusterFileCannot) {
  Measured measured = two_hosts(1);
  measured.hosts = {"a", "b", "c", "d"};
  measured.workers = {{kMemory, 40}, {kMemory, 40, 0.25}, {kMemory, 40}, {kMemory, 40}};
  measured.between.push_back({2, 3, Nanos(300'000), rates(96, 50), rates(96, 50)});
  const auto said = remarks(measured, {{false, 4, Bytes{1 << 20}, Nanos(2'000), Nanos(1'000)}});
  EXPECT_TRUE(has(said, "96 Mbit/s one way, but only 50 Mbit/s in each direction"));
  EXPECT_TRUE(has(said, "50 Mbit/s between c and d, and 1 Gbit/s between a and b"));
  EXPECT_TRUE(has(said, "averaging 1 MiB over all workers takes 2 us, and the cluster predicts"));
  EXPECT_TRUE(has(said, "worker 1 computed 25 % slower"));
  EXPECT_EQ(said.size(), 4U);
}

}  // namespace
}  // namespace pipedream::probe
