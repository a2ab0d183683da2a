#include "train/trainer.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include <ATen/ops/allclose.h>

#include "core/error.h"
#include "core/testing.h"
#include "model/zoo.h"
#include "train/optimiser_options.h"

namespace pipedream::train {
namespace {

model::Network make_mlp(std::int64_t batch) {
  const model::NetworkEntry& entry = model::zoo_entry("mlp");
  return entry.make(model::Options(entry.options, {{"inputs", "20"}, {"hidden", "32"}}), batch);
}

// A plan with one worker per stage that divides the layers, in order, evenly among the stages.
plan::Plan straight(const model::Network& network, const std::string& system, std::size_t stages,
                    int microbatches = 1) {
  plan::Plan plan;
  plan.system = system;
  plan.microbatches = microbatches;
  plan.stages.resize(stages);
  std::vector<LayerId> layers;
  for (const LayerId layer : network.graph.order())
    if (!network.graph.layer(layer).is_input) layers.push_back(layer);
  for (std::size_t i = 0; i < layers.size(); ++i)
    plan.stages[i * stages / layers.size()].layers.push_back(layers[i]);
  for (std::size_t s = 0; s < stages; ++s) {
    plan.stages[s].workers = {id_at<WorkerId>(s)};
    plan.stages[s].depth = static_cast<int>(stages - s);
  }
  return plan;
}

struct Trained {
  TrainingOutcome outcome;
  std::vector<Step> steps;
  std::vector<EvaluationStep> evaluated;
  std::vector<Evaluation> evaluations;
};

Trained train(const model::Network& network, const plan::Plan& plan, const Recipe& recipe) {
  Trained trained;
  const data::Data data = data::open_data("", network, {.seed = 3});
  runtime::Job job{.network = network, .plan = plan, .seed = 3};
  job.make_optimiser = [] { return make_optimiser({.learning_rate = 0.05}); };
  job.keep_timeline = true;
  job.replicas = check_recipe(recipe, job);
  const Observer observer{
      .step = [&](const Step& step) { trained.steps.push_back(step); },
      .evaluating = [&](const EvaluationStep& step) { trained.evaluated.push_back(step); },
      .evaluation = [&](const Evaluation& done) { trained.evaluations.push_back(done); }};
  trained.outcome = train_on_threads(recipe, job, data, observer, std::nullopt);
  return trained;
}

// A worker usually hears of a failure when it waits for another worker. A single worker waits for
// nobody and must hear of it too.
TEST(Trainer, EndsWhenItsObserverFails) {
  const model::Network network = make_mlp(16);
  const data::Data data = data::open_data("", network, {.seed = 3});
  const test::TemporaryFolder folder;
  for (const std::size_t stages : {1, 2}) {
    const plan::Plan plan = straight(network, "pipedream", stages);
    runtime::Job job{.network = network, .plan = plan, .seed = 3};
    job.stall_folder = folder.path() / "stalls";
    job.make_optimiser = [] { return make_optimiser({}); };
    std::atomic<std::int64_t> begun = 0;  // minibatches, of 256 in the epoch
    job.before_op = [&](WorkerId, const schedule::Op& op) {
      const auto* forward = std::get_if<schedule::Forward>(&op);
      if (forward == nullptr || forward->stage != StageId{0}) return;
      ++begun;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    };
    const Recipe recipe{.batch = 16, .evaluate = false};
    job.replicas = check_recipe(recipe, job);
    const Observer observer{.step = [](const Step&) { throw IoError("the disk is full"); }};
    EXPECT_EQ(test::message_of<IoError>(
                  [&] { (void)train_on_threads(recipe, job, data, observer, std::nullopt); }),
              "the disk is full");
    EXPECT_LT(begun, 200) << stages;
    EXPECT_FALSE(std::filesystem::exists(job.stall_folder)) << "nobody was waited for too long";
  }
}

// A worker begins by waiting for its data, before its first op. The timeline must begin with that
// wait, or an idle time would be negative.
TEST(Trainer, CountsNoIdleTimeBelowNothing) {
  const model::Network network = make_mlp(64);
  for (const std::size_t stages : {1, 2}) {
    const Trained trained = train(network, straight(network, "pipedream", stages),
                                  {.batch = 64, .minibatches = 4, .evaluate = false});
    const timeline::Idle& idle = trained.outcome.measured.summary.idle;
    for (const Nanos part : {idle.fill_drain, idle.imbalance, idle.transfer, idle.wait})
      EXPECT_GE(part, Nanos{0}) << stages;
  }
}

// Speed is computed from the ends of events. Sorted by start they would be out of order, because an
// op that starts early may end late.
TEST(Trainer, LeavesEventsInTheOrderOfTheirEnds) {
  const model::Network network = make_mlp(64);
  const Trained trained = train(network, straight(network, "pipedream", 3),
                                {.batch = 64, .minibatches = 8, .evaluate = false});
  const auto& events = trained.outcome.measured.timeline.events;
  ASSERT_FALSE(events.empty());
  EXPECT_TRUE(std::is_sorted(events.begin(), events.end(),
                             [](const auto& a, const auto& b) { return a.end < b.end; }));
}

TEST(Trainer, LearnsOverEpochsAndEvaluatesAfterEach) {
  const model::Network network = make_mlp(256);
  const Trained trained =
      train(network, straight(network, "pipedream", 2), {.batch = 256, .epochs = 3});
  ASSERT_EQ(trained.steps.size(), 48u);  // 4096 samples, three times
  ASSERT_EQ(trained.evaluations.size(), 3u);
  for (std::size_t i = 0; i < trained.steps.size(); ++i) {
    EXPECT_EQ(trained.steps[i].minibatch, static_cast<std::int64_t>(i));
    EXPECT_EQ(trained.steps[i].samples, static_cast<std::int64_t>(256 * (i + 1)));
  }
  EXPECT_EQ(trained.evaluations[2].score.samples, 512);
  EXPECT_LT(trained.evaluations[2].score.mean_loss(), 0.5 * trained.steps[0].loss);
  EXPECT_GT(trained.evaluations[2].score.accuracy(), 0.9);
  EXPECT_EQ(trained.outcome.measured.accuracy, trained.evaluations[2].score.accuracy());
  EXPECT_EQ(trained.outcome.measured.loss, trained.steps.back().loss);
}

// 512 held-out samples are 6 minibatches, which are evaluated two at a time.
TEST(Trainer, TellsHowAnEvaluationGoesOn) {
  const model::Network network = make_mlp(100);
  const Trained trained = train(network, straight(network, "gpipe", 2),
                                {.batch = 100, .minibatches = 50});  // an epoch has 41
  ASSERT_EQ(trained.evaluated.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(trained.evaluated[i].epoch, i < 3 ? 0 : 1);
    EXPECT_EQ(trained.evaluated[i].done, 2 * static_cast<std::int64_t>(i % 3) + 2);
    EXPECT_EQ(trained.evaluated[i].minibatches, 6);
  }
}

TEST(Trainer, AShortLastMinibatchIsTrainedWithFewerMicrobatches) {
  const model::Network network = make_mlp(1000);  // 4096 = 4 · 1000 + 96
  const Trained trained =
      train(network, straight(network, "gpipe", 2, 4), {.batch = 1000, .epochs = 1});
  ASSERT_EQ(trained.steps.size(), 5u);
  EXPECT_EQ(trained.steps.back().samples, 4096);
}

TEST(Trainer, SpeedCountsTheSamplesThatTheTimedMinibatchesReallyHave) {
  const model::Network network = make_mlp(1000);  // 4096 = 4 · 1000 + 96
  const Trained trained = train(network, straight(network, "gpipe", 2, 4),
                                {.batch = 1000, .epochs = 2, .evaluate = false});
  const systems::Measured& measured = trained.outcome.measured;
  ASSERT_EQ(measured.summary.measured_minibatches, 4) << "all but the first";
  EXPECT_NEAR(measured.samples_per_second * to_seconds(measured.summary.measured_time), 3096, 1e-6);
}

// An epoch has 5 minibatches (4096 = 4 · 1000 + 96), so the last of two begins with minibatch 5.
TEST(Trainer, CountsTheMinibatchesOfItsTimelineThroughAllEpochs) {
  const model::Network network = make_mlp(1000);
  const Trained trained = train(network, straight(network, "pipedream", 2),
                                {.batch = 1000, .minibatches = 10, .evaluate = false});
  const systems::Measured& measured = trained.outcome.measured;
  EXPECT_EQ(measured.first_timed, 5);
  EXPECT_EQ(measured.timed_end, 10);
  std::set<std::int64_t> seen;
  for (const timeline::Event& event : measured.timeline.events)
    if (const auto minibatch = schedule::minibatch_of(event.op)) seen.insert(*minibatch);
  EXPECT_EQ(seen, (std::set<std::int64_t>{5, 6, 7, 8, 9}));
}

TEST(Trainer, TimesTheLongestPartBetweenCheckpointsAndEvaluations) {
  const model::Network network = make_mlp(1000);
  const Trained trained = train(network, straight(network, "pipedream", 2),
                                {.batch = 1000, .minibatches = 8, .evaluate = false});
  EXPECT_EQ(trained.outcome.measured.first_timed, 0);
  EXPECT_EQ(trained.outcome.measured.timed_end, 5);
}

// The two replicas of dapple share each minibatch, which therefore has twice the samples. Those of
// dp-bsp take minibatches in turn.
TEST(Trainer, TrainsTheSameSamplesWhetherReplicasShareMinibatchesOrTakeTurns) {
  const model::Network network = make_mlp(64);
  for (const std::int64_t minibatches : {5, 8, 70}) {  // an epoch has 64
    const Recipe recipe{.batch = 64, .minibatches = minibatches, .evaluate = false};
    for (const std::string system : {"dapple", "dp-bsp"}) {
      plan::Plan plan = straight(network, system, 1);
      plan.stages[0].workers = {WorkerId{0}, WorkerId{1}};
      const Trained trained = train(network, plan, recipe);
      EXPECT_EQ(trained.outcome.measured.samples, minibatches * 64) << system;
      EXPECT_EQ(trained.steps.back().samples, minibatches * 64) << system;
      EXPECT_EQ(trained.outcome.measured.minibatches, minibatches) << system;
      EXPECT_EQ(trained.steps.back().minibatch, minibatches - 1) << system;
      EXPECT_EQ(trained.steps.back().minibatches, minibatches) << system;
    }
  }
}

TEST(Trainer, CountsStalenessAndBytesPerSample) {
  const model::Network network = make_mlp(64);
  const Trained trained = train(network, straight(network, "pipedream", 3),
                                {.batch = 64, .minibatches = 20, .evaluate = false});
  const systems::Measured& measured = trained.outcome.measured;
  ASSERT_EQ(measured.staleness.size(), 3u);
  EXPECT_EQ(measured.staleness[0].most, 2);
  EXPECT_EQ(measured.staleness[1].most, 1);
  EXPECT_EQ(measured.staleness[2].most, 0);
  // Each of the two cuts is crossed by 32 floats of activations and 32 floats of gradients.
  EXPECT_DOUBLE_EQ(measured.bytes_per_sample, 2 * 2 * 32 * 4);
  EXPECT_EQ(measured.samples_per_update, 64);
  EXPECT_TRUE(trained.evaluations.empty());
}

// The first stage has two replicas, which average the gradients of two minibatches for an update.
// The second stage updates once per minibatch. As in simulations, the first stage counts.
TEST(Trainer, AnUpdateHasASimulatedOnesSamples) {
  const model::Network network = make_mlp(64);
  plan::Plan plan = straight(network, "pipedream", 2);
  plan.stages[0].workers = {WorkerId{0}, WorkerId{1}};
  plan.stages[1].workers = {WorkerId{2}};
  const Trained trained = train(network, plan, {.batch = 64, .minibatches = 8, .evaluate = false});
  EXPECT_EQ(trained.outcome.measured.samples_per_update, 128);
}

// The last update of the epoch has 15 samples and a minibatch of one sample. Every sample counts
// alike, so it is the update of the last 16 samples of the larger minibatches.
TEST(Trainer, SeveralMinibatchesPerUpdateLearnAsOneLargeMinibatch) {
  const model::Network network = make_mlp(15);
  for (const char* system : {"mp", "gpipe", "dapple"}) {
    plan::Plan plan = straight(network, system, 2);
    const Trained large = train(network, plan, {.batch = 60, .epochs = 1});
    plan.accumulate = 4;
    const Trained small = train(network, plan, {.batch = 15, .epochs = 1});
    EXPECT_EQ(small.outcome.measured.samples, large.outcome.measured.samples);
    EXPECT_EQ(small.outcome.measured.samples % 60, 16);
    EXPECT_EQ(small.outcome.measured.samples_per_update, 60);
    EXPECT_GT(small.outcome.measured.samples_per_second, 0);
    for (const auto& [name, tensor] : large.outcome.weights.parameters)
      EXPECT_TRUE(at::allclose(tensor, small.outcome.weights.parameters.at(name), 1e-3, 1e-4))
          << system << ", " << name;
  }
}

TEST(Trainer, TheScaledLearningRateCountsAllMinibatchesOfAnUpdate) {
  const model::Network network = make_mlp(16);
  plan::Plan plan = straight(network, "pipedream", 2);
  plan.stages[0].workers = {WorkerId{0}, WorkerId{1}};
  plan.stages[1].workers = {WorkerId{2}};
  plan.accumulate = 3;
  Recipe recipe{.batch = 16, .minibatches = 12, .evaluate = false};
  recipe.learning_rate = 0.5;
  recipe.rate.scales = true;
  EXPECT_DOUBLE_EQ(train(network, plan, recipe).steps.front().learning_rate, 0.5 * 2 * 3);
}

// Memory is counted per worker, although the workers are threads and hand memory to each other.
TEST(Trainer, MeasuresTheMemoryOfEachWorker) {
  const model::Network network = make_mlp(64);
  const Trained trained = train(network, straight(network, "pipedream", 2),
                                {.batch = 64, .minibatches = 10, .evaluate = false});
  ASSERT_EQ(trained.outcome.measured.memory.size(), 2u);
  for (const Bytes memory : trained.outcome.measured.memory) {
    EXPECT_GT(memory.count, 4'000);
    EXPECT_LT(memory.count, 1'000'000);
  }
}

TEST(Trainer, SynchronousSystemsLearnTheSameWithAnyNumberOfWorkers) {
  const model::Network network = make_mlp(64);
  const Recipe recipe{.batch = 64, .minibatches = 10};
  const Trained one = train(network, straight(network, "gpipe", 1, 4), recipe);
  const Trained three = train(network, straight(network, "gpipe", 3, 4), recipe);
  for (const auto& [name, tensor] : one.outcome.weights.parameters)
    EXPECT_TRUE(at::equal(tensor, three.outcome.weights.parameters.at(name))) << name;
  EXPECT_EQ(one.evaluations.at(0).score.loss, three.evaluations.at(0).score.loss);
}

TEST(Trainer, ClippingIsRefusedWhereItWouldNeedAFlush) {
  const model::Network network = make_mlp(64);
  const plan::Plan plan = straight(network, "pipedream", 2);
  runtime::Job job{.network = network, .plan = plan};
  job.clip_norm = 1;
  const std::string message =
      test::message_of<CannotMeet>([&] { (void)check_recipe({.batch = 64}, job); });
  EXPECT_NE(message.find("choose a system that flushes"), std::string::npos) << message;
}

TEST(Trainer, AMinibatchMustHaveASampleForEachMicrobatch) {
  const model::Network network = make_mlp(3);
  const plan::Plan plan = straight(network, "gpipe", 2, 4);
  const runtime::Job job{.network = network, .plan = plan};
  EXPECT_EQ(test::message_of<CannotMeet>([&] { (void)check_recipe({.batch = 3}, job); }),
            "a minibatch of 3 samples cannot be cut into 4 microbatches: choose a larger `batch` "
            "or fewer `microbatches`");
}

}  // namespace
}  // namespace pipedream::train
