#include "train/slow_cause.h"

#include <gtest/gtest.h>

namespace pipedream::train {
namespace {

// Two hosts of two workers, joined at 1 Gbit/s, that share each host's link.
cluster::Cluster two_by_two() {
  return {.name = "two by two",
          .levels = {{.name = "host", .count = 2, .bandwidth = {10e9}},
                     {.name = "net", .count = 2, .bandwidth = {125e6}, .shared = true}},
          .devices = std::vector<cluster::Device>(4)};
}

// A straight pipeline that trains 100 samples per second. Each worker computes 8 ms of 10 ms.
Expectation four_stages() {
  return {.samples_per_second = 100,
          .busy = std::vector<double>(4, 0.008),
          .transfer = std::vector<double>(4, 0.001),
          .workers = {"worker 0 on a (stage 0)", "worker 1 on a (stage 1)",
                      "worker 2 on b (stage 2)", "worker 3 on b (stage 3)"},
          .hosts = {"a", "a", "b", "b"},
          .cluster = two_by_two()};
}

// Ten seconds in which the workers train so many samples per second, and compute and wait for so
// many milliseconds per sample.
Speeds speeds(double samples_per_second, const std::vector<double>& busy,
              const std::vector<double>& transfer = {0, 0, 0, 0}) {
  Speeds speeds{.samples_per_second = samples_per_second, .workers = {}};
  for (std::size_t w = 0; w < busy.size(); ++w)
    speeds.workers.push_back({.seconds = 10,
                              .busy = busy[w] * samples_per_second / 100,
                              .transfer = transfer[w] * samples_per_second / 100,
                              .sent = std::vector<double>(busy.size())});
  return speeds;
}

TEST(SlowCause, IsTheWorkerThatComputesMoreSlowlyThanTheOthers) {
  struct Case {
    Speeds measured;
    std::optional<std::string> cause;
  };
  const std::vector<Case> cases{
      // As fast as expected, or almost: nothing needs an explanation.
      {speeds(100, {8, 8, 8, 8}), {}},
      {speeds(92, {8, 8, 10.5, 8}), {}},
      // One worker takes 14 ms, and the others wait for it.
      {speeds(70, {8, 8, 14, 8}),
       "slowest: worker 2 on b (stage 2), 1.75 × its plan's time per minibatch"},
      // All are slow alike: no worker is the cause.
      {speeds(70, {14, 14, 14, 14}), {}},
      // All are slow, and one much more than the others.
      {speeds(50, {10, 20, 10, 10}),
       "slowest: worker 1 on a (stage 1), 2.50 × its plan's time per minibatch"},
      // One worker is a little slower, which does not explain that half of the speed is missing.
      {speeds(50, {8, 8, 9.5, 8}), {}},
      // Nothing is known of one worker.
      {[] {
         Speeds some = speeds(70, {8, 8, 14, 8});
         some.workers[3].seconds = 0;
         return some;
       }(),
       {}},
      {speeds(70, {8, 8, 14}), {}},
      {speeds(0, {0, 0, 0, 0}), {}},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.measured.samples_per_second);
    EXPECT_EQ(slow_cause(each.measured, four_stages()), each.cause);
  }
}

TEST(SlowCause, IsTheLinkWhoseTransfersHoldWorkersUp) {
  Speeds measured = speeds(60, {8, 8, 8, 8}, {0.5, 1, 7, 1});
  measured.workers[0].sent[1] = 2e9;  // inside the host, where there is room
  measured.workers[1].sent[2] = 1e9;
  measured.workers[1].sent[3] = 0.1e9;
  measured.workers[2].sent[1] = 0.3e9;
  EXPECT_EQ(slow_cause(measured, four_stages()), "busiest link: a → b, 88.0 % of 1 Gbit/s");
  // On one host, links join workers.
  Expectation threads = four_stages();
  threads.hosts.clear();
  EXPECT_EQ(slow_cause(measured, threads), "busiest link: worker 1 → worker 2, 88.0 % of 1 Gbit/s");
  // Waits that the plan has, too, explain nothing.
  Expectation waiting = four_stages();
  waiting.transfer[2] = 0.007;
  EXPECT_FALSE(slow_cause(measured, waiting));
}

TEST(SlowCause, IsWhatLosesMoreTime) {
  Speeds measured = speeds(50, {8, 8, 18, 8}, {0, 6, 0, 0});
  measured.workers[0].sent[1] = 1;
  EXPECT_EQ(slow_cause(measured, four_stages()),
            "slowest: worker 2 on b (stage 2), 2.25 × its plan's time per minibatch");
  measured = speeds(50, {8, 8, 12, 8}, {0, 9, 0, 0});
  measured.workers[0].sent[1] = 1e9;
  EXPECT_EQ(slow_cause(measured, four_stages()),
            "busiest link: worker 0 → worker 1, only 800 Mbit/s of 80 Gbit/s");
}

}  // namespace
}  // namespace pipedream::train
