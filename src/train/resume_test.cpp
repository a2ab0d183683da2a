// Checkpoints of a training, and trainings that go on from one.
#include "train/resume.h"

#include <gtest/gtest.h>

#include "checkpoint/disk_testing.h"
#include "train/resume_testing.h"

namespace pipedream::train {
namespace {

class Resume : public testing::TestWithParam<PlanCase> {};

TEST_P(Resume, FromAnyCheckpointGivesTheBitsOfTheUndisturbedRun) {
  const Training whole(GetParam());
  const TrainingOutcome undisturbed = whole.run(whole.recipe(140));
  EXPECT_FALSE(undisturbed.unsaved.has_value());
  const std::vector<std::int64_t> steps = steps_in(whole.folder());
  ASSERT_GE(steps.size(), 6u);
  for (const std::int64_t step : {steps.front(), steps[2], steps.back()}) {
    SCOPED_TRACE("from step " + std::to_string(step));
    const Training rest(GetParam());
    expect_same_weights(rest.resume(whole.folder() / checkpoint::folder_name(step), 140).weights,
                        undisturbed.weights);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Plans, Resume,
    testing::Values(PlanCase{"mp", "mp", {1, 1}},
                    PlanCase{"gpipe", "gpipe", {1, 1, 1}, 4, OptimiserKind::kAdam},
                    PlanCase{"dapple", "dapple", {2, 1}, 2},
                    PlanCase{"straight", "pipedream", {1, 1, 1}},
                    PlanCase{"replicated", "pipedream", {2, 1}, 1, OptimiserKind::kAdamW},
                    PlanCase{"two_buffered", "2bw", {2, 2}, 4}, PlanCase{"dp_bsp", "dp-bsp", {3}},
                    PlanCase{"averaged", "pipedream", {2, 1}, 1, OptimiserKind::kAdam, 0.9}),
    [](const auto& of) { return of.param.name; });

// Every plan goes on from the checkpoint of every other. The weights are equal after loading, and
// training goes on.
TEST(ResumeAcrossPlans, GivesTheSameTensors) {
  const std::vector<PlanCase> cases{{"mp", "mp", {1, 1}},
                                    {"gpipe", "gpipe", {1, 1, 1}, 4},
                                    {"dapple", "dapple", {2, 1}, 2},
                                    {"straight", "pipedream", {1, 1, 1}},
                                    {"replicated", "pipedream", {2, 1}},
                                    {"two_buffered", "2bw", {2, 2}, 4},
                                    {"dp_bsp", "dp-bsp", {3}},
                                    {"dp_asp", "dp-asp", {2}}};
  for (const PlanCase& before : cases) {
    const Training first(before);
    const TrainingOutcome outcome = first.run(first.recipe(24));
    const std::int64_t step = steps_in(first.folder()).back();
    const fs::path checkpoint = first.folder() / checkpoint::folder_name(step);
    for (const PlanCase& after : cases) {
      SCOPED_TRACE(before.name + ", then " + after.name);
      const Training loaded(after);
      const TrainingOutcome same = loaded.resume(checkpoint, step);
      EXPECT_EQ(same.measured.minibatches, step);
      if (step == 24) expect_same_weights(same.weights, outcome.weights);
      const model::NamedTensors saved = weights_of(one_checkpoint(checkpoint)).tensors;
      for (const auto& tensors : {same.weights.parameters, same.weights.buffers})
        for (const auto& [name, tensor] : tensors)
          EXPECT_TRUE(at::equal(tensor, saved.at(name))) << name;
      const Training longer(after);
      EXPECT_EQ(longer.resume(checkpoint, 70).measured.samples, 64 * 64 + 6 * 64);
    }
  }
}

// Workers that do not see the folder send their parts to worker 0, and get their tensors from it.
TEST(Saving, WorksForWorkersThatDoNotSeeTheFolder) {
  for (const PlanCase& of :
       {PlanCase{"straight", "pipedream", {1, 1, 1}}, PlanCase{"dp_asp", "dp-asp", {3}}}) {
    const Training seen(of);
    const Training unseen(of);
    const auto sees_files = [](WorkerId worker) { return worker.value != 1; };
    const TrainingOutcome wanted = seen.run(seen.recipe(40));
    Recipe far = unseen.recipe(40);
    far.sees_files = sees_files;
    const TrainingOutcome outcome = unseen.run(far);
    EXPECT_FALSE(outcome.unsaved.has_value());
    EXPECT_EQ(steps_in(unseen.folder()), steps_in(seen.folder()));
    const std::string last = checkpoint::folder_name(steps_in(unseen.folder()).back());
    const SoundCheckpoint found = one_checkpoint(unseen.folder() / last);
    EXPECT_EQ(found.manifest.files.size(), 3u);
    const Training rest(of);
    Recipe resumed = rest.recipe(found.manifest.position.step);
    Training::go_on_from(found.path, resumed);
    resumed.sees_files = sees_files;
    expect_same_weights(rest.run(resumed).weights, outcome.weights);
    if (of.system != "dp-asp") expect_same_weights(outcome.weights, wanted.weights);
  }
}

TEST(Saving, KeepsTheNewest) {
  const Training training({"mp", "mp", {1, 1}});
  Recipe recipe = training.recipe(140);
  recipe.saving->keep = 2;
  (void)training.run(recipe);
  EXPECT_EQ(steps_in(training.folder()), (std::vector<std::int64_t>{128, 140}));
}

// A checkpoint with a folder in it cannot be removed.
TEST(Saving, RemovesOldOnesAlsoIfOneStays) {
  const Training training({"mp", "mp", {1, 1}});
  Recipe recipe = training.recipe(40);
  (void)training.run(recipe);
  fs::create_directories(training.folder() / checkpoint::folder_name(20) / "mine" / "notes");
  recipe = training.recipe(140);
  recipe.saving->keep = 2;
  (void)training.run(recipe);
  std::vector<std::int64_t> steps;
  for (const checkpoint::Found& found : checkpoint::find_checkpoints(training.folder()))
    steps.push_back(found.step);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{20, 128, 140}));
}

// The disk is full from some call on, while the first checkpoint is written or while the second is.
TEST(Saving, AFullDiskEndsNoTrainingAndTheLastSoundCheckpointStays) {
  for (const std::size_t full_at : {0u, 2u, 5u, 9u, 12u, 16u}) {
    const Training training({"mp", "mp", {1}});
    checkpoint::JournalDisk disk(full_at, /*for_good=*/true);
    Recipe recipe = training.recipe(60);
    recipe.saving->disk = &disk;
    const TrainingOutcome outcome = training.run(recipe);
    EXPECT_EQ(outcome.measured.minibatches, 60);
    ASSERT_TRUE(outcome.unsaved.has_value()) << full_at;
    const auto newest = newest_checkpoint(training.folder());
    EXPECT_EQ(newest.has_value(), outcome.measured.checkpoints > 0) << full_at;
    if (!newest) continue;
    EXPECT_EQ(newest->manifest.position.step, 20 * outcome.measured.checkpoints);
  }
}

TEST(Saving, AnUnwritableFolderEndsNoTraining) {
  const Training training({"mp", "mp", {1, 1}});
  Recipe recipe = training.recipe(60);
  recipe.saving->folder = training.folder() / "absent";
  const TrainingOutcome outcome = training.run(recipe);
  EXPECT_EQ(outcome.measured.minibatches, 60);
  ASSERT_TRUE(outcome.unsaved.has_value());
  EXPECT_NE(outcome.unsaved->find("absent"), std::string::npos) << *outcome.unsaved;
}

}  // namespace
}  // namespace pipedream::train
