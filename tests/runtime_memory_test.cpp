// Compares the memory that plans predict with the memory that libtorch's allocator really gave to
// each worker. Small networks are profiled, planned and trained as a user would do it.
#include <cstdio>

#include <gtest/gtest.h>

#include "cluster/local.h"
#include "data/data_set.h"
#include "model/zoo.h"
#include "systems/choice.h"
#include "systems/simulation.h"
#include "train/optimiser_options.h"
#include "train/profiling.h"
#include "train/trainer.h"

namespace pipedream {
namespace {

constexpr int kWorkers = 2;
constexpr int kMicrobatches = 4;
constexpr double kWithin = 0.1;

// A network with its profile. All tests of the network share one object.
class Subject {
 public:
  Subject(const std::string& name, const std::map<std::string, std::string>& sizes,
          std::int64_t batch)
      : network_(make(name, sizes, batch)),
        data_(data::open_data("", network_, {.seed = 0})),
        profile_(with_even_times(train::profile_for_training(
            network_, {.budget = std::chrono::duration<double>(0.1)}, optimiser()))),
        model_(profile_),
        cluster_(cluster::this_machine(kWorkers, std::nullopt)) {}

  // Returns a plan for two workers. Expects the memory that the plan predicts to be the memory that
  // its simulation gives. If a worker has several stages (interleaved), the prediction may be
  // larger, because it adds the peaks of all its stages.
  [[nodiscard]] plan::Plan planned(const std::string& system, const systems::Wishes& wishes) const {
    const auto result = systems::plan_for(systems::find_system(system), model_, cluster_, wishes);
    const auto& planned = std::get<systems::Planned>(result);
    std::vector<Bytes> said(kWorkers);
    for (std::size_t s = 0; s < planned.plan.stages.size(); ++s)
      for (const WorkerId worker : planned.plan.stages[s].workers)
        said[worker.index()] += planned.answer.prediction.stages[s].memory.total();
    const std::vector<Bytes> simulated = predicted(planned.plan);
    if (system == "interleaved")
      for (std::size_t w = 0; w < said.size(); ++w) EXPECT_GE(said[w], simulated[w]);
    else
      EXPECT_EQ(said, simulated);
    return planned.plan;
  }

  // Trains with the plan and compares the peak memory of all workers with the prediction.
  void expect_memory_as_predicted(const plan::Plan& plan, std::int64_t minibatches) const {
    const std::vector<Bytes> expected = predicted(plan);
    const std::vector<Bytes> measured = trained(plan, minibatches);
    ASSERT_EQ(measured.size(), std::size_t{kWorkers});
    ASSERT_EQ(measured.size(), expected.size());
    for (std::size_t w = 0; w < measured.size(); ++w) {
      const double ratio =
          static_cast<double>(measured[w].count) / static_cast<double>(expected[w].count);
      std::printf("%s, %s, worker %zu: %s measured, %s predicted, ratio %.3f\n",
                  network_.name.c_str(), plan.system.c_str(), w, to_text(measured[w]).c_str(),
                  to_text(expected[w]).c_str(), ratio);
      EXPECT_NEAR(ratio, 1, kWithin) << "worker " << w;
    }
  }

 private:
  static model::Network make(const std::string& name,
                             const std::map<std::string, std::string>& sizes, std::int64_t batch) {
    const model::NetworkEntry& entry = model::zoo_entry(name);
    return entry.make(model::Options(entry.options, sizes), batch);
  }
  // Gives all layers equal times. Measured times differ from run to run, so the cuts would
  // sometimes change and another plan would be tested. The memory in the profile stays as measured.
  static profile::Profile with_even_times(profile::Profile profile) {
    for (std::size_t i = 0; i < profile.costs.size(); ++i)
      if (!profile.graph.layers()[i].is_input)
        profile.costs[i].forward = profile.costs[i].backward = std::chrono::milliseconds(1);
    return profile;
  }
  static train::OptimiserOptions optimiser() { return {.learning_rate = 0.001}; }

  [[nodiscard]] std::vector<Bytes> predicted(const plan::Plan& plan) const {
    return systems::simulate_plan(plan, profile_, cluster_, {}).memory;
  }
  // Trains and returns the peak memory of each worker.
  [[nodiscard]] std::vector<Bytes> trained(const plan::Plan& plan, std::int64_t minibatches) const {
    runtime::Job job{.network = network_, .plan = plan};
    job.make_optimiser = [] { return train::make_optimiser(optimiser()); };
    const train::Recipe recipe{
        .batch = network_.batch, .minibatches = minibatches, .evaluate = false};
    job.replicas = train::check_recipe(recipe, job);
    return train::train_on_threads(recipe, job, data_, {}, std::nullopt).measured.memory;
  }

  model::Network network_;
  data::Data data_;
  profile::Profile profile_;
  systems::Model model_;
  cluster::Cluster cluster_;
};

// The stages of `plan` for another system, without recomputation.
plan::Plan without_recompute(plan::Plan plan, const std::string& system) {
  plan.system = system;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    plan.stages[s].depth = static_cast<int>(plan.stages.size() - s);
    plan.stages[s].recompute = false;
  }
  return plan;
}

const Subject& vgg16() {
  static const Subject subject("vgg16",
                               {{"image-size", "32"}, {"classes", "10"}, {"hidden", "256"}}, 16);
  return subject;
}

const Subject& gnmt8() {
  static const Subject subject("gnmt8",
                               {{"hidden", "128"}, {"vocabulary", "1000"}, {"length", "20"}}, 16);
  return subject;
}

plan::Plan gpipe_plan(const Subject& subject) {
  return subject.planned("gpipe", {.stages = kWorkers, .microbatches = kMicrobatches});
}

// A plan with all layers on both workers.
plan::Plan replicated(const Subject& subject, const std::string& system, int microbatches) {
  plan::Plan plan = subject.planned("dp-bsp", {});
  plan.system = system;
  plan.microbatches = microbatches;
  return plan;
}

// `minibatches` is large enough that the pipeline fills and every weight version exists.
struct Case {
  const Subject& (*subject)();
  std::int64_t minibatches;
};
class PeakMemory : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] const Subject& subject() const { return GetParam().subject(); }
};

TEST_P(PeakMemory, OfPipedreamIsAsPredicted) {
  subject().expect_memory_as_predicted(subject().planned("pipedream", {.straight = true}),
                                       GetParam().minibatches);
}

TEST_P(PeakMemory, OfGpipeWithRecomputationIsAsPredicted) {
  const plan::Plan plan = gpipe_plan(subject());
  EXPECT_TRUE(plan.stages[0].recompute);
  subject().expect_memory_as_predicted(plan, 2);
}

TEST_P(PeakMemory, OfGpipeWithoutRecomputationIsAsPredicted) {
  subject().expect_memory_as_predicted(without_recompute(gpipe_plan(subject()), "gpipe"), 2);
}

TEST_P(PeakMemory, OfDappleIsAsPredicted) {
  subject().expect_memory_as_predicted(without_recompute(gpipe_plan(subject()), "dapple"), 2);
}

TEST_P(PeakMemory, OfTwoBufferedIsAsPredicted) {
  subject().expect_memory_as_predicted(without_recompute(gpipe_plan(subject()), "2bw"), 3);
}

TEST_P(PeakMemory, OfSeveralStagesOnAWorkerIsAsPredicted) {
  const plan::Plan plan =
      subject().planned("interleaved", {.recompute = false, .microbatches = kMicrobatches});
  EXPECT_GT(plan.stages.size(), std::size_t{kWorkers});
  subject().expect_memory_as_predicted(plan, 2);
}

TEST_P(PeakMemory, OfDataParallelIsAsPredicted) {
  subject().expect_memory_as_predicted(subject().planned("dp-bsp", {}), 6);
}

TEST_P(PeakMemory, OfAsynchronousDataParallelIsAsPredicted) {
  subject().expect_memory_as_predicted(subject().planned("dp-asp", {}), 6);
}

TEST_P(PeakMemory, OfReplicatedStagesIsAsPredicted) {
  subject().expect_memory_as_predicted(replicated(subject(), "pipedream", 1), 6);
  subject().expect_memory_as_predicted(replicated(subject(), "dapple", kMicrobatches), 4);
  subject().expect_memory_as_predicted(replicated(subject(), "2bw", kMicrobatches), 6);
}

INSTANTIATE_TEST_SUITE_P(Vgg16, PeakMemory, testing::Values(Case{vgg16, 4}));
INSTANTIATE_TEST_SUITE_P(Gnmt8, PeakMemory, testing::Values(Case{gnmt8, 8}));

}  // namespace
}  // namespace pipedream
