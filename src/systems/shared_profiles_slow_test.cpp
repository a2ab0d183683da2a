// Tests of every system on the profiles that PipeDream's authors measured. They are not part of
// this project; the tests are skipped if core/shared_data.h does not find them.
#include <gtest/gtest.h>

#include "cluster/cluster_file.h"
#include "core/testing.h"
#include "profile/shared_profiles_testing.h"
#include "systems/choice.h"

namespace pipedream::systems {
namespace {

cluster::Cluster example(const std::string& name) {
  return cluster::read_cluster(PD_SOURCE_DIR "/examples/clusters/" + name + ".toml");
}

class SlowSharedProfiles : public test::WithSharedProfiles {};

TEST_F(SlowSharedProfiles, EverySystemHasAPlanWithinTheMemoryOrSaysWhyNot) {
  const cluster::Cluster cluster = example("a-4x4");
  for (const auto& [name, batch] : profile::kSharedProfiles) {
    const profile::Profile profile = profile::read_shared_profile(name);
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
      EXPECT_GT(planned.times.predicted.count(), 0) << which;
      EXPECT_LE(plan::worker_count(planned.plan), cluster.workers()) << which;
      EXPECT_NO_THROW((void)plan::stage_of_each_layer(planned.plan, profile.graph)) << which;
    }
  }
}

}  // namespace
}  // namespace pipedream::systems
