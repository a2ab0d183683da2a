// 1F1B on stages with replicas: which depths keep all workers busy
// (docs/planner.md#items-in-flight), and when averaging holds them up.
#include <numeric>

#include <gtest/gtest.h>

#include "cost/memory.h"
#include "simulate/simulate_testing.h"

namespace pipedream::simulate {
namespace {

using schedule::plan_of;
using schedule::whole_minibatches;

// Returns all lists of one to four numbers, each at least 1, whose sum is at most 8. There are 162.
std::vector<std::vector<int>> small_replica_vectors() {
  std::vector<std::vector<int>> all;
  const auto go_on = [&](auto& self, std::vector<int>& counts, int left) -> void {
    if (!counts.empty()) all.push_back(counts);
    if (counts.size() == 4) return;
    for (int n = 1; n <= left; ++n) {
      counts.push_back(n);
      self(self, counts, left - n);
      counts.pop_back();
    }
  };
  std::vector<int> counts;
  go_on(go_on, counts, 8);
  return all;
}

// Returns whether one minibatch is done every unit in the steady state. A replica of a stage with r
// replicas takes r units per minibatch, so this is so with enough minibatches in flight.
bool keeps_all_busy(const std::vector<int>& replicas, const std::vector<int>& depths, Times unit) {
  std::vector<Times> times;
  for (const int r : replicas) times.push_back({r * unit.forward, r * unit.backward});
  const Case with = chain_case(plan_of(replicas, depths), times);
  std::int64_t round = 1;
  for (const int r : replicas) round = std::lcm(round, std::int64_t{r});
  const std::int64_t warm_up = (40 + round - 1) / round * round;
  const std::int64_t count = 2 * round;
  const auto ends = ends_of_backwards(
      run(one_f_one_b(with.plan, whole_minibatches(with.plan, warm_up + count + 20)), with)
          .timeline);
  return ends.at(warm_up + count) - ends.at(warm_up) ==
         Nanos((unit.forward + unit.backward) * count);
}

TEST(Replicas, OfAllSmallPipelinesAreBusyWithTheDepthsOfTheRecursion) {
  const auto all = small_replica_vectors();
  EXPECT_EQ(all.size(), 162U);
  for (const Times unit : {Times{10, 20}, Times{20, 3}})
    for (const auto& replicas : all)
      EXPECT_TRUE(keeps_all_busy(replicas, cost::pipeline_depths(replicas, 1), unit))
          << testing::PrintToString(replicas);
}

// The depths of the recursion (cost::pipeline_depths) are the smallest possible: the paper's depth
// (NOAM) keeps all workers busy exactly if it is smaller on no stage.
TEST(Replicas, OfAThirdOfSmallPipelinesStandIdleWithThePapersDepth) {
  int idle = 0;
  for (const auto& replicas : small_replica_vectors()) {
    const std::vector<int> noam = cost::noam_depths(replicas);
    const std::vector<int> enough = cost::pipeline_depths(replicas, 1);
    bool is_less = false;
    for (std::size_t s = 0; s < noam.size(); ++s) is_less = is_less || noam[s] < enough[s];
    const bool busy = keeps_all_busy(replicas, noam, {10, 20});
    EXPECT_EQ(busy, !is_less) << testing::PrintToString(replicas);
    idle += busy ? 0 : 1;
  }
  EXPECT_EQ(idle, 53);
}

// A pipeline 2-1. A round takes 60 ns on each of its workers, and the averaging of 20 bytes takes
// 20 ns. The averaging of round q may go on until the forward of round q + d + 1, so that no worker
// waits for it.
TEST(Replicas, AverageARoundWhileTheNextIsComputed) {
  Case with =
      chain_case(plan_of({2, 1}, {2, 1}), {{20, 40}, {10, 20}}, Bytes{0}, Nanos(0), Bytes{20});
  const auto timeline =
      run(one_f_one_b(with.plan, whole_minibatches(with.plan, 40)), with).timeline;
  const auto ends = ends_of_backwards(timeline);
  EXPECT_EQ(ends.at(30) - ends.at(20), Nanos(10 * 30));
  for (const timeline::Event& event : timeline.events) {
    if (!std::holds_alternative<schedule::Await>(event.op) || event.start > ends.at(36)) continue;
    EXPECT_EQ(event.transfer + event.wait, Nanos(0)) << schedule::to_text(event.op);
  }
}

// A round of two minibatches takes 60 ns of compute on each replica, but its averaging takes 100
// ns, which is then the limit.
TEST(Replicas, ThatAverageLongerThanTheyComputeAreHeldUpByIt) {
  const Case with =
      chain_case(plan_of({2, 1}, {2, 1}), {{20, 40}, {10, 20}}, Bytes{0}, Nanos(0), Bytes{100});
  const auto ends = ends_of_backwards(
      run(one_f_one_b(with.plan, whole_minibatches(with.plan, 60)), with).timeline);
  EXPECT_EQ(ends.at(50) - ends.at(30), Nanos(10 * 100));
}

}  // namespace
}  // namespace pipedream::simulate
