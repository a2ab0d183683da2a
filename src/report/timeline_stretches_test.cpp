#include "report/timeline_stretches.h"

#include <gtest/gtest.h>

namespace pipedream::report {
namespace {

using schedule::Backward;
using schedule::Forward;
using schedule::Update;
using timeline::Timeline;

constexpr Tenths kWidest = 14'000;

// Returns a pipeline in which a forward takes 1 ns and a backward 2 ns, and every worker alternates
// between them. Worker w begins w ns late, and its first backward is 3 × (workers − w − 1) ns late.
Timeline pipeline(int workers, int minibatches) {
  Timeline timeline;
  for (std::int32_t w = 0; w < workers; ++w)
    for (std::int64_t m = 0; m < minibatches; ++m) {
      const auto late = static_cast<std::int64_t>(workers - w - 1) * 3;
      const Nanos forward{w + 3 * m};
      const Nanos backward{w + 3 * m + 1 + late};
      timeline.events.push_back(
          {WorkerId{w}, Forward{StageId{w}, {m, 0}, {0}}, forward, forward + Nanos{1}});
      timeline.events.push_back(
          {WorkerId{w}, Backward{StageId{w}, {m, 0}, {0}}, backward, backward + Nanos{2}});
      timeline.events.push_back({WorkerId{w}, Update{StageId{w}, {m}, {m + 1}, m, m},
                                 backward + Nanos{2}, backward + Nanos{2}});
    }
  return timeline;
}

std::vector<Stretch> stretches_in(const Timeline& timeline, Tenths widest = kWidest) {
  const std::vector<Lane> lanes = lanes_of(timeline);
  return stretches_of(lanes, shape_of(lanes), {Nanos{0}, timeline::length(timeline)}, widest);
}

Nanos shown(const Stretch& stretch) { return stretch.scale.to() - stretch.scale.from(); }

TEST(ShapeOf, APipelineThatUpdatesWithItemsInFlightDoesNotFlush) {
  EXPECT_FALSE(shape_of(lanes_of(pipeline(4, 20))).flushes);
  EXPECT_TRUE(shape_of(lanes_of(pipeline(4, 20))).is_pipeline);
  EXPECT_TRUE(shape_of(lanes_of(pipeline(1, 20))).flushes);
  EXPECT_FALSE(shape_of(lanes_of(pipeline(1, 1))).flushes) << "nothing follows its update";
  EXPECT_FALSE(shape_of(lanes_of(pipeline(1, 20))).is_pipeline);
}

TEST(StretchesOf, AShortRunIsShownWhole) {
  const auto stretches = stretches_in(pipeline(4, 12));
  ASSERT_EQ(stretches.size(), 1U);
  EXPECT_EQ(stretches[0].name, "");
  EXPECT_EQ(stretches[0].scale.from(), Nanos{0});
  EXPECT_EQ(stretches[0].scale.to(), timeline::length(pipeline(4, 12)));
  EXPECT_EQ(stretches[0].scale.width(), 45 * 260) << "26 pixels for a forward";
}

TEST(StretchesOf, ALongRunIsShownInThree) {
  const Timeline timeline = pipeline(8, 336);
  const auto stretches = stretches_in(timeline);
  ASSERT_EQ(stretches.size(), 3U);
  EXPECT_EQ(stretches[0].name, "the pipeline fills");
  EXPECT_EQ(stretches[1].name, "steady state");
  EXPECT_EQ(stretches[2].name, "the pipeline drains");
  EXPECT_EQ(stretches[0].scale.from(), Nanos{0});
  EXPECT_EQ(stretches[2].scale.to(), timeline::length(timeline));
  EXPECT_EQ(stretches[0].scale.left(), 0);
  EXPECT_EQ(stretches[1].scale.left(), stretches[0].scale.right() + kBreak);
  EXPECT_EQ(stretches[2].scale.left(), stretches[1].scale.right() + kBreak);
  EXPECT_EQ(stretches[2].scale.right(), kWidest);
  for (std::size_t i = 1; i < 3; ++i)
    EXPECT_GT(stretches[i].scale.from(), stretches[i - 1].scale.to());
}

TEST(StretchesOf, TheFirstShowsAllOfTheFillingAndTheLastAllOfTheDraining) {
  for (const int workers : {2, 4, 8, 16, 40}) {
    const Timeline timeline = pipeline(workers, 2000);
    const auto stretches = stretches_in(timeline);
    ASSERT_EQ(stretches.size(), 3U) << workers;
    EXPECT_GT(shown(stretches[0]), Nanos{1 + 3 * (workers - 1)}) << "worker 0 begins its backwards";
    EXPECT_GT(shown(stretches[2]), Nanos{3 * (workers - 1)}) << "worker 0 ends its forwards";
    EXPECT_GT(5 * shown(stretches[1]), shown(stretches[0])) << "enough of the steady state";
  }
}

TEST(StretchesOf, HaveTheSameScale) {
  std::vector<double> widths;
  for (const Stretch& stretch : stretches_in(pipeline(8, 336)))
    widths.push_back(static_cast<double>(stretch.scale.width()) /
                     static_cast<double>(shown(stretch).count()));
  EXPECT_NEAR(widths[0], widths[1], widths[0] / 100);
  EXPECT_NEAR(widths[0], widths[2], widths[0] / 100);
  EXPECT_GE(widths[0], 3 * 50) << "a forward has room for the three digits of its minibatch";
}

TEST(StretchesOf, TheMiddleBeginsWithAForwardOfTheFirstWorker) {
  const auto stretches = stretches_in(pipeline(8, 336));
  EXPECT_EQ(stretches[1].scale.from().count() % 3, 0);
}

TEST(StretchesOf, AreBeginningMiddleAndEndWhereNothingIsInFlightBetweenUpdates) {
  const auto stretches = stretches_in(pipeline(1, 1000));
  ASSERT_EQ(stretches.size(), 3U);
  EXPECT_EQ(stretches[0].name, "beginning");
  EXPECT_EQ(stretches[1].name, "middle");
  EXPECT_EQ(stretches[2].name, "end");
}

TEST(StretchesOf, ARunThatHardlyDoesMoreThanFillAndDrainIsShownWhole) {
  const auto stretches = stretches_in(pipeline(100, 120));
  ASSERT_EQ(stretches.size(), 1U);
  EXPECT_EQ(stretches[0].scale.width(), kWidest);
}

TEST(StretchesOf, AFewShortBoxesDoNotMakeEverythingLong) {
  Timeline timeline;
  for (std::int64_t i = 0; i < 50; ++i) {
    timeline.events.push_back(
        {WorkerId{0}, Forward{{0}, {i, 0}, {0}}, Nanos{1000 * i}, Nanos{1000 * i + 1}});
    timeline.events.push_back(
        {WorkerId{0}, Backward{{0}, {i, 0}, {0}}, Nanos{1000 * i + 1}, Nanos{1000 * i + 1000}});
  }
  Nanos all{0};
  for (const Stretch& stretch : stretches_in(timeline)) all += shown(stretch);
  EXPECT_GE(all, Nanos{30'000});
}

TEST(StretchesOf, TakeTheLongestTimes) {
  const Timeline timeline{{{WorkerId{0}, Forward{}, Nanos{0}, Nanos{1}},
                           {WorkerId{0}, Backward{}, Nanos::max() - Nanos{1}, Nanos::max()}}};
  for (const Stretch& stretch : stretches_in(timeline)) EXPECT_GT(shown(stretch), Nanos{0});
}

}  // namespace
}  // namespace pipedream::report
