#include "cost/cost.h"

#include <gtest/gtest.h>

namespace pipedream::cost {
namespace {

TEST(StageTime, SumsTheLayersOfTheStage) {
  profile::Profile profile;
  profile.costs = {{.forward = Nanos(1), .backward = Nanos(10)},
                   {.forward = Nanos(200), .backward = Nanos(3000)},
                   {.forward = Nanos(40'000), .backward = Nanos(500'000)}};
  const StageTime time = stage_time(profile, {LayerId{0}, LayerId{2}});
  EXPECT_EQ(time.forward, Nanos(40'001));
  EXPECT_EQ(time.backward, Nanos(500'010));
}

TEST(StageTime, OfNoLayersIsZero) {
  const StageTime time = stage_time({}, {});
  EXPECT_EQ(time.forward, Nanos(0));
  EXPECT_EQ(time.backward, Nanos(0));
}

// Two servers of two workers: 2 GB/s with 3 ns inside, 1 GB/s with 50 ns between.
const cluster::Cluster kTwoServers{
    "two servers",
    {{.name = "server", .count = 2, .bandwidth = {2e9}, .latency = Nanos(3)},
     {.name = "room", .count = 2, .bandwidth = {1e9}, .latency = Nanos(50)}},
    std::vector<cluster::Device>(4)};

TEST(TransferTime, IsLatencyAndBytesOverBandwidthOfTheInnermostCommonLevel) {
  EXPECT_EQ(transfer_time(kTwoServers, WorkerId{0}, WorkerId{1}, Bytes{1000}), Nanos(3 + 500));
  EXPECT_EQ(transfer_time(kTwoServers, WorkerId{3}, WorkerId{2}, Bytes{1000}), Nanos(3 + 500));
  EXPECT_EQ(transfer_time(kTwoServers, WorkerId{0}, WorkerId{2}, Bytes{1000}), Nanos(50 + 1000));
  EXPECT_EQ(transfer_time(kTwoServers, WorkerId{2}, WorkerId{1}, Bytes{1000}), Nanos(50 + 1000));
}

TEST(TransferTime, OfNothingIsTheLatency) {
  EXPECT_EQ(transfer_time(kTwoServers, WorkerId{0}, WorkerId{3}, Bytes{0}), Nanos(50));
}

TEST(TransferTime, IsRoundedToTheNearestNanosecond) {
  EXPECT_EQ(transfer_time(kTwoServers, WorkerId{0}, WorkerId{1}, Bytes{3}), Nanos(3 + 2));
  const cluster::Cluster fast{
      "fast", {{.name = "room", .count = 2, .bandwidth = {3e9}}}, std::vector<cluster::Device>(2)};
  EXPECT_EQ(transfer_time(fast, WorkerId{0}, WorkerId{1}, Bytes{1}), Nanos(0));
  EXPECT_EQ(transfer_time(fast, WorkerId{0}, WorkerId{1}, Bytes{10}), Nanos(3));
  EXPECT_EQ(transfer_time(fast, WorkerId{0}, WorkerId{1}, Bytes{11}), Nanos(4));
}

}  // namespace
}  // namespace pipedream::cost
