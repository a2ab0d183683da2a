// Checkpoints that are written while a training goes on, and trainings that are stopped: all
// threads at once, so that the thread sanitizer sees them.
#include <atomic>

#include "train/resume_testing.h"

namespace pipedream::train {
namespace {

class Checkpoints : public testing::TestWithParam<PlanCase> {};

TEST_P(Checkpoints, AreWrittenAndReadWhileAllThreadsRun) {
  const Training training(GetParam());
  Recipe recipe = training.recipe(24);
  recipe.checkpoints.every = 6;
  recipe.saving->keep = 2;
  recipe.sees_files = [](WorkerId worker) { return worker.value != 1; };
  const TrainingOutcome outcome = training.run(recipe);
  EXPECT_FALSE(outcome.unsaved.has_value());
  ASSERT_EQ(steps_in(training.folder()).size(), 2u);
  Recipe rest = Training(GetParam()).recipe(30);
  rest.saving->folder = training.folder();
  rest.sees_files = recipe.sees_files;
  Training::go_on_from(
      training.folder() / checkpoint::folder_name(steps_in(training.folder()).back()), rest);
  EXPECT_EQ(training.run(rest).measured.minibatches, 30);
}

TEST_P(Checkpoints, AreWrittenWhereATrainingIsStopped) {
  const Training training(GetParam());
  Recipe recipe = training.recipe(1'000'000);
  recipe.checkpoints.every = 50;
  recipe.checkpoints.at_epochs = false;
  std::atomic<int> looks = 0;
  recipe.is_stopped = [&] { return ++looks > 3; };
  const TrainingOutcome outcome = training.run(recipe);
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(steps_in(training.folder()).back(), outcome.measured.minibatches);
}

INSTANTIATE_TEST_SUITE_P(Plans, Checkpoints,
                         testing::Values(PlanCase{"dapple", "dapple", {2, 1}, 2},
                                         PlanCase{"replicated", "pipedream", {2, 1}},
                                         PlanCase{"two_buffered", "2bw", {2, 2}, 4},
                                         PlanCase{"dp_asp", "dp-asp", {2}}),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace pipedream::train
