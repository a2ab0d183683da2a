#include "train/speed_watch.h"

#include <gtest/gtest.h>

namespace pipedream::train {
namespace {

// Four workers, each of which computes for 8 ms per sample.
Expectation four_workers(std::vector<double> speeds = {1, 1, 1, 1}) {
  Expectation expected{.samples_per_second = 100,
                       .busy = std::vector<double>(4, 0.008),
                       .transfer = std::vector<double>(4),
                       .workers = {},
                       .hosts = {},
                       .cluster = {}};
  for (std::size_t w = 0; w < speeds.size(); ++w) {
    expected.workers.push_back("worker " + std::to_string(w));
    expected.cluster.devices.push_back({.memory = {1}, .speed = speeds[w]});
  }
  expected.cluster.levels.push_back({.name = "host", .count = 4, .bandwidth = {1e10}});
  return expected;
}

// What workers do who compute for these multiples of the plan's time.
Speeds doing(const std::vector<double>& ratios) {
  Speeds measured{.samples_per_second = 50, .workers = {}};
  for (const double ratio : ratios)
    measured.workers.push_back(
        {.seconds = 10, .busy = 10 * 50 * 0.008 * ratio, .transfer = 0, .sent = {}});
  return measured;
}

// Looks once a second, from `from` until before `to`. Returns what was found, with the second.
std::vector<std::pair<int, OddWorkers>> looks(SpeedWatch& watch, int from, int to,
                                              const std::vector<double>& ratios) {
  std::vector<std::pair<int, OddWorkers>> found;
  for (int second = from; second < to; ++second)
    if (auto odd = watch.look(doing(ratios), std::chrono::seconds(second)))
      found.emplace_back(second, std::move(*odd));
  return found;
}

TEST(SpeedWatch, TellsOnceOfAWorkerThatIsSlowForLongEnough) {
  const Expectation expected = four_workers();
  SpeedWatch watch(expected, std::chrono::seconds(60));
  watch.begin(Nanos{0});
  const auto found = looks(watch, 1, 300, {1, 1.02, 2, 1.04});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].first, 60);
  const OddWorkers& odd = found[0].second;
  ASSERT_EQ(odd.found.size(), 1U);
  EXPECT_EQ(odd.found[0].worker, WorkerId{2});
  EXPECT_DOUBLE_EQ(odd.found[0].ratio, 2);
  EXPECT_DOUBLE_EQ(odd.found[0].others, 1.02);
  ASSERT_EQ(odd.ratios.size(), 4U);
  for (const std::size_t w : {0U, 1U, 3U}) EXPECT_DOUBLE_EQ(odd.ratios[w], 1.02);
  EXPECT_EQ(
      to_text(odd.found[0], odd, expected),
      "worker 2 computed for 2.00 × as long as planned in the last 60 s of training, the others "
      "for 1.02 ×");
}

TEST(SpeedWatch, ForgetsASlownessThatEndsInBetween) {
  const Expectation expected = four_workers();
  SpeedWatch watch(expected, std::chrono::seconds(60));
  watch.begin(Nanos{0});
  EXPECT_TRUE(looks(watch, 1, 50, {1, 1, 2, 1}).empty());
  EXPECT_TRUE(looks(watch, 50, 60, {1, 1, 1.1, 1}).empty());
  EXPECT_TRUE(looks(watch, 60, 119, {1, 1, 2, 1}).empty());
  EXPECT_EQ(looks(watch, 119, 130, {1, 1, 2, 1}).size(), 1U);
  // A worker that was fast again is told of again.
  EXPECT_TRUE(looks(watch, 130, 140, {1, 1, 1, 1}).empty());
  EXPECT_EQ(looks(watch, 140, 240, {1, 1, 2, 1}).size(), 1U);
}

TEST(SpeedWatch, LeavesOutTheTimeBetweenStretches) {
  const Expectation expected = four_workers();
  SpeedWatch watch(expected, std::chrono::seconds(60));
  watch.begin(Nanos{0});
  EXPECT_TRUE(looks(watch, 1, 31, {1, 1, 2, 1}).empty());
  watch.begin(std::chrono::seconds(1000));
  const auto found = looks(watch, 1001, 1100, {1, 1, 2, 1});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].first, 1030);
}

TEST(SpeedWatch, IsSilentIfAllAreSlowOrTheDifferenceIsSmall) {
  const Expectation expected = four_workers();
  for (const std::vector<double>& ratios : std::vector<std::vector<double>>{
           {2, 2, 2, 2}, {1.8, 2, 2, 1.9}, {1, 1, 1.14, 1}, {0.8, 0.8, 1, 0.8}, {1, 1, 0.5, 1}}) {
    SpeedWatch watch(expected, std::chrono::seconds(60));
    watch.begin(Nanos{0});
    EXPECT_TRUE(looks(watch, 1, 300, ratios).empty()) << ratios[2];
  }
}

TEST(SpeedWatch, TellsOfAWorkerThatIsFasterThanThePlanTakesItToBe) {
  const Expectation expected = four_workers({1, 1, 0.5, 1});
  SpeedWatch watch(expected, std::chrono::seconds(60));
  watch.begin(Nanos{0});
  const auto found = looks(watch, 1, 300, {1, 1, 0.5, 1});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].second.found.at(0).worker, WorkerId{2});
  EXPECT_DOUBLE_EQ(found[0].second.ratios[2], 0.5);
}

TEST(SpeedWatch, TellsOfTwoWorkersTogether) {
  const Expectation expected = four_workers();
  SpeedWatch watch(expected, std::chrono::seconds(60));
  watch.begin(Nanos{0});
  EXPECT_EQ(looks(watch, 1, 100, {1, 1, 2, 1}).size(), 1U);
  const auto found = looks(watch, 100, 200, {3, 1, 2, 1});
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].second.found.size(), 2U);
  EXPECT_EQ(found[0].second.found[0].worker, WorkerId{0});
  EXPECT_EQ(found[0].second.found[1].worker, WorkerId{2});
}

TEST(SpeedWatch, SaysNothingOfOneWorkerAlone) {
  Expectation expected = four_workers({1});
  expected.busy = {0.008};
  SpeedWatch watch(expected, std::chrono::seconds(60));
  watch.begin(Nanos{0});
  EXPECT_TRUE(looks(watch, 1, 300, {2}).empty());
}

}  // namespace
}  // namespace pipedream::train
