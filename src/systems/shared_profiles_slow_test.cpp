// Every system, for the profiles that PipeDream's authors measured. They are not
// part of this project: the tests look for them beside it, or in the folder that PD_SHARED_DATA
// names, and are skipped where there are none.
#include <cstdio>
#include <map>

#include <gtest/gtest.h>

#include "cluster/cluster_file.h"
#include "core/testing.h"
#include "profile/profile_file.h"
#include "systems/systems.h"

namespace pipedream::systems {
namespace {

cluster::Cluster example(const std::string& name) {
  return cluster::read_cluster(PD_SOURCE_DIR "/examples/clusters/" + name + ".toml");
}

class SlowSharedProfiles : public testing::Test {
 protected:
  void SetUp() override {
    if (std::filesystem::is_directory(folder())) return;
    std::printf("skipped: there is no folder %s\n", folder().c_str());
    GTEST_SKIP();
  }

  static std::filesystem::path folder() { return test::shared_data() / "profiles"; }

  static std::vector<profile::Profile> all() {
    const std::map<std::string, std::int64_t> batches{
        {"vgg16", 128}, {"resnet50", 128}, {"alexnet", 256}, {"inception_v3", 128}};
    std::vector<profile::Profile> profiles;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      if (!entry.path().string().ends_with(".graph.txt")) continue;
      profiles.push_back(profile::read_profile(entry.path()));
      const auto batch = batches.find(profiles.back().model);
      if (batch != batches.end()) profiles.back().batch = batch->second;
    }
    return profiles;
  }
};

TEST_F(SlowSharedProfiles, EverySystemHasAPlanWithinTheMemoryOrSaysWhyNot) {
  const cluster::Cluster cluster = example("a-4x4");
  for (const profile::Profile& profile : all()) {
    const Model model(profile);
    for (const Candidate& candidate : plan_for_all(model, cluster, {}).candidates) {
      const std::string which = profile.model + " by " + candidate.system->name;
      if (const auto* refusal = std::get_if<plan::Refusal>(&candidate.result)) {
        EXPECT_NE(refusal->why, "") << which;
        continue;
      }
      const auto& planned = std::get<Planned>(candidate.result);
      EXPECT_FALSE(planned.answer.prediction.miss.has_value()) << which;
      for (const plan::StagePrediction& stage : planned.answer.prediction.stages)
        EXPECT_LE(stage.memory.total(), stage.memory_limit) << which;
      EXPECT_GT(planned.time().count(), 0) << which;
      EXPECT_LE(plan::worker_count(planned.plan), cluster.workers()) << which;
      EXPECT_NO_THROW((void)plan::stage_of_each_layer(planned.plan, profile.graph)) << which;
    }
  }
}

}  // namespace
}  // namespace pipedream::systems
