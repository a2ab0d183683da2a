#include "train/course.h"

#include <gtest/gtest.h>

namespace pipedream::train {
namespace {

// A plan of stages with these numbers of replicas.
plan::Plan plan_of(const std::vector<int>& replicas, int microbatches = 1) {
  plan::Plan plan;
  plan.microbatches = microbatches;
  int worker = 0;
  for (const int count : replicas) {
    plan::Stage& stage = plan.stages.emplace_back();
    for (int i = 0; i < count; ++i) stage.workers.push_back({worker++});
  }
  return plan;
}

std::vector<Stretch> stretches_of(const Course& course) {
  std::vector<Stretch> all;
  for (std::int64_t next = 0; next < course.minibatches(); next += all.back().count)
    all.push_back(course.stretch_from(next));
  return all;
}

// The ends of all stretches in samples over all epochs, those with a checkpoint as they are and
// others negative.
std::vector<std::int64_t> ends_of(const Course& course) {
  std::vector<std::int64_t> ends;
  for (const Stretch& stretch : stretches_of(course))
    ends.push_back(course.samples_after(stretch) * (stretch.saves ? 1 : -1));
  return ends;
}

using Ends = std::vector<std::int64_t>;
constexpr auto kTurns = cost::Replicas::kTakeTurns;
constexpr auto kShared = cost::Replicas::kShareItems;

TEST(Course, WithoutCheckpointsAStretchIsAnEpoch) {
  const Course course({.samples = 100, .batch = 10, .epochs = 3}, plan_of({1, 1}), kTurns);
  EXPECT_EQ(ends_of(course), (Ends{-100, -200, -300}));
  const Course part({.samples = 100, .batch = 10, .minibatches = 25}, plan_of({1}), kTurns);
  EXPECT_EQ(ends_of(part), (Ends{-100, -200, -250}));
  EXPECT_FALSE(stretches_of(part).back().ends_epoch);
}

TEST(Course, CheckpointsComeAfterSoManyMinibatches) {
  CourseOptions options{.samples = 100, .batch = 10, .epochs = 2};
  options.checkpoints.every = 7;
  EXPECT_EQ(ends_of(Course(options, plan_of({1, 1}), kTurns)), (Ends{70, -100, 140, -200}));
  options.checkpoints.at_epochs = true;
  EXPECT_EQ(ends_of(Course(options, plan_of({1, 1}), kTurns)), (Ends{70, 100, 140, 200}));
  options.checkpoints = {.once = 12};
  EXPECT_EQ(ends_of(Course(options, plan_of({1, 1}), kTurns)), (Ends{-100, 120, -200}));
}

// Stages of 2 and 3 replicas have both made whole updates after 6 minibatches.
TEST(Course, CheckpointsComeAtWholeUpdates) {
  CourseOptions options{.samples = 200, .batch = 10, .epochs = 1};
  options.checkpoints.every = 7;
  EXPECT_EQ(ends_of(Course(options, plan_of({2, 3}), kTurns)), (Ends{120, 180, -200}));
  EXPECT_EQ(ends_of(Course(options, plan_of({2, 1}, 2), kShared)), (Ends{80, 140, -200}));
}

TEST(Course, CheckpointsComeAtWholeUpdatesOfSeveralMinibatches) {
  const auto accumulating = [](plan::Plan plan, int accumulate) {
    plan.accumulate = accumulate;
    return plan;
  };
  CourseOptions options{.samples = 200, .batch = 10, .epochs = 2};
  options.checkpoints.every = 7;
  EXPECT_EQ(ends_of(Course(options, accumulating(plan_of({1, 1}), 4), kTurns)),
            (Ends{80, 160, -200, 240, 280, 360, -400}));
  EXPECT_EQ(ends_of(Course(options, accumulating(plan_of({2, 1}), 2), kTurns)),
            (Ends{80, 160, -200, 240, 280, 360, -400}));
  const Course shared(options, accumulating(plan_of({2, 1}, 2), 3), kShared);
  EXPECT_EQ(shared.batches().samples_in(0), 20) << "a minibatch is what it is without accumulation";
  EXPECT_EQ(ends_of(shared), (Ends{120, 180, -200, 260, 320, 380, -400}));
}

TEST(Course, EvaluationsComeAfterSoManyMinibatchesAndAtTheEnd) {
  CourseOptions options{.samples = 100, .batch = 10, .epochs = 2};
  const auto evaluated = [&] {
    Ends ends;
    const Course course(options, plan_of({1, 1}), kTurns);
    for (const Stretch& stretch : stretches_of(course))
      if (stretch.evaluates) ends.push_back(course.samples_after(stretch));
    return ends;
  };
  EXPECT_EQ(evaluated(), Ends{});
  options.evaluations = {.at_epochs = true, .at_end = true};
  EXPECT_EQ(evaluated(), (Ends{100, 200}));
  options.evaluations = {.every = 8, .at_end = true};
  EXPECT_EQ(evaluated(), (Ends{80, 160, 200}));
  options.checkpoints.every = 4;  // with every second checkpoint
  EXPECT_EQ(evaluated(), (Ends{80, 160, 200}));
  EXPECT_EQ(ends_of(Course(options, plan_of({1, 1}), kTurns)), (Ends{40, 80, -100, 120, 160, 200}));
  options.checkpoints.every = 5;
  EXPECT_EQ(evaluated(), (Ends{80, 160, 200}));
  EXPECT_EQ(ends_of(Course(options, plan_of({1, 1}), kTurns)),
            (Ends{50, -80, 100, 150, -160, 200}));
}

TEST(Course, WithNothingLeftEndsAtOnce) {
  const Course course(
      {.samples = 100, .batch = 10, .beginning = {.stream = {1, 0}, .samples = 100}}, plan_of({1}),
      kTurns);
  EXPECT_EQ(course.minibatches(), 0);
  EXPECT_EQ(course.end_after(-1), 0);
}

TEST(Course, GoesOnWhereACheckpointWasTaken) {
  for (const auto& [plan, replicas] :
       {std::pair{plan_of({1, 1}), kTurns}, {plan_of({3}), kTurns}, {plan_of({2}), kShared}}) {
    CourseOptions options{.samples = 110, .batch = 10, .epochs = 3};
    options.checkpoints.every = 4;
    const Course whole(options, plan, replicas);
    const std::vector<Stretch> all = stretches_of(whole);
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      CourseOptions later = options;
      const std::int64_t samples = whole.samples_after(all[i]);
      later.beginning = {.stream = {samples / 110, samples % 110},
                         .samples = samples,
                         .minibatch = whole.seeding_number(all[i].first + all[i].count)};
      const Course rest(later, plan, replicas);
      const std::vector<Stretch> found = stretches_of(rest);
      ASSERT_EQ(found.size(), all.size() - i - 1);
      for (std::size_t k = 0; k < found.size(); ++k) {
        const Stretch& wanted = all[i + 1 + k];
        EXPECT_EQ(found[k].epoch, wanted.epoch);
        EXPECT_EQ(found[k].count, wanted.count);
        EXPECT_EQ(found[k].saves, wanted.saves);
        EXPECT_EQ(rest.seeding_number(found[k].first), whole.seeding_number(wanted.first));
        for (std::int64_t t = 0; t < wanted.count; ++t)
          EXPECT_EQ(rest.batches().samples_of(found[k].first + t),
                    whole.batches().samples_of(wanted.first + t));
      }
    }
  }
}

}  // namespace
}  // namespace pipedream::train
