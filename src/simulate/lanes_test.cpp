#include "simulate/lanes.h"

#include <gtest/gtest.h>

#include "simulate/simulate_testing.h"

namespace pipedream::simulate {
namespace {

// Three workers with links of one byte per nanosecond, and a clock that run_down() empties.
class LanesTest : public testing::Test {
 protected:
  Path wire(int from, int to) const {
    return lanes_.path(cost::transfer_uses(network_, WorkerId{from}, WorkerId{to}));
  }
  // Returns "lane: started–arrived at now" for each job, in the order in which the jobs are over.
  std::vector<std::string> run_down() {
    std::vector<std::string> texts;
    while (!clock_.empty()) {
      const Happening now = clock_.next();
      const auto finished = now.what() == What::kFlow
                                ? lanes_.flow_ends(now.index(), now.generation, now.time)
                                : lanes_.lane_goes_on(now.index(), now.time);
      if (!finished) continue;
      texts.push_back(
          std::to_string(finished->lane) + ": " + std::to_string(finished->started.count()) + "–" +
          std::to_string(finished->arrived.count()) + " at " + std::to_string(now.time.count()));
    }
    return texts;
  }

  const cluster::Cluster cluster_ = room(3);
  const cost::Links network_{cluster_};
  Clock clock_;
  Lanes lanes_{network_, clock_};
  const Path path_ = wire(0, 1);
};

using Texts = std::vector<std::string>;

TEST_F(LanesTest, JobsOfOneLaneFollowEachOther) {
  const LaneId lane = lanes_.add(Nanos(0), false);
  for (const double bytes : {10.0, 30.0, 20.0}) lanes_.push(lane, Nanos(5), Nanos(5), bytes, path_);
  EXPECT_EQ(run_down(), (Texts{"0: 5–15 at 15", "0: 15–45 at 45", "0: 45–65 at 65"}));
}

TEST_F(LanesTest, JobsOfTwoLanesShareTheirLinks) {
  const LaneId one = lanes_.add(Nanos(0), false);
  const LaneId other = lanes_.add(Nanos(0), false);
  const Path elsewhere = wire(0, 2);  // shares the link out of worker 0
  lanes_.push(one, Nanos(0), Nanos(0), 10, path_);
  lanes_.push(other, Nanos(0), Nanos(0), 20, elsewhere);
  EXPECT_EQ(run_down(), (Texts{"0: 0–20 at 20", "1: 0–30 at 30"}));
}

TEST_F(LanesTest, AJobWaitsUntilItIsReadyAndHoldsUpThoseBehindIt) {
  const LaneId lane = lanes_.add(Nanos(0), false);
  lanes_.push(lane, Nanos(0), Nanos(100), 10, path_);
  lanes_.push(lane, Nanos(0), Nanos(0), 10, path_);
  EXPECT_EQ(run_down(), (Texts{"0: 100–110 at 110", "0: 110–120 at 120"}));
}

TEST_F(LanesTest, AWireIsFreeWhenTheLastByteHasLeft) {
  const LaneId lane = lanes_.add(Nanos(50), false);
  lanes_.push(lane, Nanos(0), Nanos(0), 10, path_);
  lanes_.push(lane, Nanos(0), Nanos(0), 10, path_);
  EXPECT_EQ(run_down(), (Texts{"0: 0–60 at 10", "0: 10–70 at 20"}));
}

TEST_F(LanesTest, AnAveragingIsOverWhenItHasArrived) {
  const LaneId lane = lanes_.add(Nanos(50), true);
  lanes_.push(lane, Nanos(0), Nanos(0), 10, path_);
  lanes_.push(lane, Nanos(0), Nanos(0), 10, path_);
  EXPECT_EQ(run_down(), (Texts{"0: 0–60 at 60", "0: 60–120 at 120"}));
}

TEST_F(LanesTest, AJobOfSeveralPathsTakesOneAfterAnotherAndOneLatency) {
  const std::vector<Path> both{path_, lanes_.path({})};
  const std::vector<Path> twice{path_, path_};
  const LaneId lane = lanes_.add(Nanos(50), true);
  lanes_.push(lane, Nanos(0), Nanos(0), 10, both);
  lanes_.push(lane, Nanos(0), Nanos(0), 10, twice);
  EXPECT_EQ(run_down(), (Texts{"0: 0–60 at 60", "0: 60–130 at 130"}));
}

TEST_F(LanesTest, WithoutLinksAJobTakesTheLatencyAlone) {
  const Path nowhere = lanes_.path({});
  const LaneId wire = lanes_.add(Nanos(7), false);
  const LaneId averaging = lanes_.add(Nanos(7), true);
  lanes_.push(wire, Nanos(3), Nanos(3), 1000, nowhere);
  lanes_.push(averaging, Nanos(3), Nanos(3), 1000, nowhere);
  EXPECT_EQ(run_down(), (Texts{"0: 3–10 at 3", "1: 3–10 at 10"}));
}

// If a ring averages 12 bytes over three workers, each worker sends and receives 16 bytes.
TEST_F(LanesTest, APathScalesBytesToItsBusiestLink) {
  std::vector<WorkerId> all{WorkerId{0}, WorkerId{1}, WorkerId{2}};
  const Path ring = lanes_.path(cost::exchange_uses(network_, all, cost::Exchange::kRing).at(0));
  EXPECT_DOUBLE_EQ(ring.scale, 4.0 / 3);
  EXPECT_EQ(ring.uses.size(), 6U);
  const Path push = lanes_.path(cost::push_uses(network_, WorkerId{0}, all));
  EXPECT_DOUBLE_EQ(push.scale, 2.0 / 3) << "two shards go out, and one each comes in elsewhere";
  for (const Use& use : push.uses) EXPECT_DOUBLE_EQ(use.weight, use.link == 0 ? 1 : 0.5);
  const LaneId lane = lanes_.add(Nanos(0), true);
  lanes_.push(lane, Nanos(0), Nanos(0), 12, ring);
  EXPECT_EQ(run_down(), Texts{"0: 0–16 at 16"});
  for (const cost::LinkUse& use : lanes_.traffic()) EXPECT_DOUBLE_EQ(use.bytes, 16);
  EXPECT_EQ(lanes_.traffic().size(), 6U);
}

TEST_F(LanesTest, TrafficIsToldByLevelLinkAndDirection) {
  const LaneId lane = lanes_.add(Nanos(0), false);
  lanes_.push(lane, Nanos(0), Nanos(0), 10, path_);
  EXPECT_TRUE(lanes_.traffic().empty()) << "nothing is there yet";
  (void)run_down();
  EXPECT_EQ(lanes_.traffic(), (std::vector<cost::LinkUse>{{0, 0, true, 10}, {0, 1, false, 10}}));
}

TEST(ClockTest, AtOneTimeFlowsComeBeforeLanesAndThoseBeforeWorkers) {
  Clock clock;
  clock.at(Nanos(7), What::kWorker, 0);
  clock.at(Nanos(7), What::kLane, 5);
  clock.at(Nanos(9), What::kFlow, 1);
  clock.at(Nanos(7), What::kFlow, 3, 42);
  clock.at(Nanos(7), What::kFlow, 2);
  std::vector<std::pair<What, std::uint32_t>> order;
  while (!clock.empty()) {
    const Happening next = clock.next();
    order.emplace_back(next.what(), next.index());
    if (next.index() == 3) {
      EXPECT_EQ(next.generation, 42U);
    }
  }
  EXPECT_EQ(order, (std::vector<std::pair<What, std::uint32_t>>{{What::kFlow, 2},
                                                                {What::kFlow, 3},
                                                                {What::kLane, 5},
                                                                {What::kWorker, 0},
                                                                {What::kFlow, 1}}));
}

}  // namespace
}  // namespace pipedream::simulate
