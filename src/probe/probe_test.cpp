#include "probe/probe.h"

#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cluster/cluster_file.h"
#include "core/error.h"
#include "core/testing.h"
#include "probe/probe_text.h"
#include "probe/together.h"
#include "probe/traffic.h"
#include "transport/emulated.h"
#include "transport/in_process.h"

namespace pipedream::probe {
namespace {

using namespace std::chrono_literals;
using Endpoints = std::vector<std::unique_ptr<transport::Transport>>;

// Calls body(worker) on a thread for each worker. If one throws, aborts `ends`, and throws what the
// first one threw.
template <class Body>
void run_workers(const std::vector<Endpoints*>& ends, int workers, Body body) {
  std::once_flag once;
  std::exception_ptr first;
  {
    std::vector<std::jthread> threads;
    for (int w = 0; w < workers; ++w)
      threads.emplace_back([&, w] {
        try {
          body(static_cast<std::size_t>(w));
        } catch (...) {
          std::call_once(once, [&] {
            first = std::current_exception();
            for (Endpoints* each : ends) each->front()->abort("a worker failed");
          });
        }
      });
  }
  if (first) std::rethrow_exception(first);
}

// Two hosts of two workers, whose workers share a link of 50 MB/s with a delay of 2 ms.
struct Emulated {
  Endpoints control = transport::connect_in_process(4);
  Endpoints values = transport::connect_emulated(
      transport::connect_in_process(4),
      std::make_shared<transport::LinkQueues>(
          transport::Links{50e6, 2ms, {{WorkerId{0}, WorkerId{1}}, {WorkerId{2}, WorkerId{3}}}},
          4));
};

Setting setting() {
  return {.hosts = {{0, 2}, 2},
          .names = {"a", "b"},
          .time = 10ms,
          .memory = Bytes{std::int64_t{1} << 30},
          .work = [] { std::this_thread::sleep_for(100us); },
          .threads = true,
          .progress = [](double, const std::string&) {}};
}

std::vector<Probed> probe_all() {
  Emulated ends;
  std::vector<Probed> found(4);
  run_workers({&ends.values, &ends.control}, 4, [&](std::size_t w) {
    found[w] = probe(setting(), {*ends.values[w], *ends.control[w]});
  });
  return found;
}

// Messages between the hosts take as long as the link says or, on a busy machine, longer. Only the
// clock of a receiver that begins late on such a machine may show less, so the limit is no exact
// one.
TEST(Probe, FindsTheLevelsOfTwoHostsAndNoMuchFasterLinkThanThereIs) {
  const Probed found = probe_all().front();
  ASSERT_EQ(found.cluster.levels.size(), 2U);
  EXPECT_EQ(found.cluster.workers(), 4);
  const cluster::Level& network = found.cluster.levels[1];
  EXPECT_EQ(network.count, 2);
  EXPECT_LE(network.bandwidth.bytes_per_second, 200e6);  // inside the hosts there is no limit
  EXPECT_GE(network.latency, 2ms);
  ASSERT_EQ(found.measured.between.size(), 1U);
  ASSERT_EQ(found.averaged.size(), 2U);
  EXPECT_TRUE(found.averaged[0].inside_hosts);
  EXPECT_EQ(found.averaged[1].workers, 4);
  EXPECT_GE(found.averaged[1].took, 4ms);  // two steps between the hosts at least
}

TEST(Probe, GivesAllWorkersTheSameResult) {
  const std::vector<Probed> found = probe_all();
  for (const Probed& each : found) EXPECT_EQ(probe_json(each), probe_json(found.front()));
}

TEST(Probe, WritesAClusterFileThatReadsBackWithCommentsOnWhatWasMeasured) {
  const Probed found = probe_all().front();
  const std::string text = cluster_file(found, "Measured today.");
  EXPECT_EQ(cluster::parse_cluster(text, "c.toml"), found.cluster);
  EXPECT_EQ(text.find("# Measured today.\n# Workers 0 to 1 are on a.\n"), 0U);
  EXPECT_NE(text.find("\n# a and b, 2 pairs together: latency "), std::string::npos) << text;
}

TEST(Probe, EndsEverywhereIfAWorkerFails) {
  Emulated ends;
  const std::string message = test::message_of<CannotMeet>([&] {
    run_workers({&ends.values, &ends.control}, 4, [&](std::size_t w) {
      Setting mine = setting();
      if (w == 3) mine.work = [] { throw CannotMeet("no memory"); };
      (void)probe(mine, {*ends.values[w], *ends.control[w]});
    });
  });
  EXPECT_EQ(message, "no memory");
}

TEST(ProbeTogether, EveryWorkerHearsWhatAllSaid) {
  Endpoints ends = transport::connect_in_process(3);
  std::vector<std::vector<Numbers>> heard(3);
  run_workers({&ends}, 3, [&](std::size_t w) {
    const auto number = static_cast<std::int64_t>(w);
    heard[w] = tell_all(*ends[w], Numbers(w, number));
  });
  for (const auto& each : heard) EXPECT_EQ(each, (std::vector<Numbers>{{}, {1}, {2, 2}}));
}

TEST(ProbeTraffic, LoadsHaveSixteenMessagesAtLeastAndLargeOnesMessagesOfOneMebibyte) {
  EXPECT_EQ(load_of(Bytes{1}).messages, 16);
  EXPECT_EQ(load_of(Bytes{4 << 20}).messages, 16);
  EXPECT_EQ(load_of(Bytes{4 << 20}).each, Bytes{256 << 10});
  EXPECT_EQ(load_of(Bytes{100 << 20}).messages, 100);
  EXPECT_EQ(load_of(Bytes{100 << 20}).each, Bytes{1 << 20});
}

}  // namespace
}  // namespace pipedream::probe
