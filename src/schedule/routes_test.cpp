#include "schedule/routes.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "schedule/schedule_testing.h"

namespace pipedream::schedule {
namespace {

// Returns the shares of an item that replica `replica` of stage `here` has in common with the
// replicas of stage `there`, by replica.
std::map<int, double> shares(const Routes& routes, int here, int replica, int there,
                             std::int64_t minibatch = 0) {
  std::map<int, double> found;
  routes.for_each_peer(StageId{here}, replica, StageId{there}, minibatch,
                       [&](int other, double share) {
                         EXPECT_TRUE(found.emplace(other, share).second) << "called twice";
                       });
  return found;
}

TEST(Routes, AReplicaSharesSamplesWithThoseThatHaveTheSameOnes) {
  const Pipeline pipeline = chain(plan_of({2, 3}));
  const Routes routes(pipeline.plan, pipeline.graph, Replicas::kShareItems);
  // Replica 0 of 2 has the samples 0 … 1/2: those of replica 0 of 3, which has 0 … 1/3, and a part
  // of those of replica 1, from 1/3 to 1/2.
  EXPECT_EQ(shares(routes, 0, 0, 1), (std::map<int, double>{{0, 1. / 3}, {1, 1. / 6}}));
  EXPECT_EQ(shares(routes, 0, 1, 1), (std::map<int, double>{{1, 1. / 6}, {2, 1. / 3}}));
  EXPECT_EQ(shares(routes, 1, 1, 0), (std::map<int, double>{{0, 1. / 6}, {1, 1. / 6}}));
}

TEST(Routes, SharesOfAllReplicasMakeTheWholeAndAreTheSameFromBothEnds) {
  for (int mine = 1; mine <= 6; ++mine)
    for (int theirs = 1; theirs <= 6; ++theirs) {
      const Pipeline pipeline = chain(plan_of({mine, theirs}));
      const Routes routes(pipeline.plan, pipeline.graph, Replicas::kShareItems);
      double whole = 0;
      for (int i = 0; i < mine; ++i) {
        double all = 0;
        for (const auto& [j, share] : shares(routes, 0, i, 1)) {
          EXPECT_GT(share, 0);
          EXPECT_DOUBLE_EQ(shares(routes, 1, j, 0).at(i), share);
          all += share;
        }
        EXPECT_DOUBLE_EQ(all, 1. / mine) << mine << " to " << theirs;
        whole += all;
      }
      EXPECT_DOUBLE_EQ(whole, 1);
      for (int j = 0; j < theirs; ++j)
        for (const auto& [i, share] : shares(routes, 1, j, 0))
          EXPECT_DOUBLE_EQ(shares(routes, 0, i, 1).at(j), share);
    }
}

TEST(Routes, EveryOpIsRunForAStage) {
  const Pipeline pipeline = chain(plan_of({1, 1}));
  const Routes routes(pipeline.plan, pipeline.graph, Replicas::kTakeTurns);
  const ValueId value{0};
  const StageId user{1};
  EXPECT_EQ(routes.stage_of(Forward{StageId{1}, {}, {}}), StageId{1});
  EXPECT_EQ(routes.stage_of(Update{StageId{0}, {}, {}}), StageId{0});
  EXPECT_EQ(routes.stage_of(Send{value, user, {}, Kind::kActivation, {}}), StageId{0});
  EXPECT_EQ(routes.stage_of(Recv{value, user, {}, Kind::kActivation, {}}), StageId{1});
  EXPECT_EQ(routes.stage_of(Send{value, user, {}, Kind::kGradient, {}}), StageId{1});
  EXPECT_EQ(routes.stage_of(Recv{value, user, {}, Kind::kGradient, {}}), StageId{0});
}

TEST(Routes, InTurnsOneReplicaHasTheWholeItem) {
  const Pipeline pipeline = chain(plan_of({2, 3}));
  const Routes routes(pipeline.plan, pipeline.graph, Replicas::kTakeTurns);
  for (std::int64_t b = 0; b < 12; ++b) {
    EXPECT_EQ(shares(routes, 0, static_cast<int>(b % 2), 1, b),
              (std::map<int, double>{{static_cast<int>(b % 3), 1}}));
    EXPECT_EQ(shares(routes, 1, static_cast<int>(b % 3), 0, b),
              (std::map<int, double>{{static_cast<int>(b % 2), 1}}));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(routes.has_part(StageId{1}, i, b), b % 3 == i);
  }
}

TEST(Routes, TogetherAllReplicasHaveAPart) {
  const Pipeline pipeline = chain(plan_of({2}));
  const Routes routes(pipeline.plan, pipeline.graph, Replicas::kShareItems);
  for (std::int64_t b = 0; b < 4; ++b)
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(routes.has_part(StageId{0}, i, b));
}

TEST(Routes, KnowTheReplicasOfAStage) {
  const Pipeline pipeline = chain(plan_of({2, 3}));
  const Routes routes(pipeline.plan, pipeline.graph, Replicas::kTakeTurns);
  EXPECT_EQ(routes.replicas(StageId{1}), 3);
  EXPECT_EQ(routes.worker(StageId{1}, 2), WorkerId{4});
  EXPECT_EQ(routes.replica(StageId{1}, WorkerId{4}), 2);
  EXPECT_EQ(routes.replica(StageId{0}, WorkerId{4}), std::nullopt);
  EXPECT_EQ(routes.replica(StageId{0}, WorkerId{5}), std::nullopt) << "no worker of the plan";
}

TEST(Routes, AForwardTakesFromEarlierStagesAndABackwardFromLaterOnes) {
  const Pipeline pipeline = straight_pipeline(3);
  const Routes routes(pipeline.plan, pipeline.graph, Replicas::kTakeTurns);
  ASSERT_EQ(routes.transfers().size(), 2U);
  using Places = std::vector<std::size_t>;
  const auto places = [](std::span<const std::size_t> found) {
    return Places(found.begin(), found.end());
  };
  EXPECT_EQ(places(routes.taken(StageId{1}, Kind::kActivation)), Places{0});
  EXPECT_EQ(places(routes.made(StageId{1}, Kind::kActivation)), Places{1});
  EXPECT_EQ(places(routes.taken(StageId{1}, Kind::kGradient)), Places{1});
  EXPECT_EQ(places(routes.made(StageId{1}, Kind::kGradient)), Places{0});
  EXPECT_EQ(places(routes.taken(StageId{0}, Kind::kActivation)), Places{});
  EXPECT_TRUE(routes.loads(StageId{0}));
  EXPECT_FALSE(routes.loads(StageId{1}));
  EXPECT_TRUE(routes.loads(StageId{2}));
}

TEST(Routes, RefuseAPlanThatDoesNotFitTheGraph) {
  Pipeline pipeline = straight_pipeline(2);
  pipeline.plan.stages[1].layers.clear();
  EXPECT_EQ(test::message_of<BadValue>(
                [&] { (void)Routes(pipeline.plan, pipeline.graph, Replicas::kTakeTurns); }),
            "layer 'l1' is in no stage");
}

}  // namespace
}  // namespace pipedream::schedule
