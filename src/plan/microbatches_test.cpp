#include "plan/microbatches.h"

#include <gtest/gtest.h>

#include "cost/system_rules_testing.h"

namespace pipedream::plan {
namespace {

profile::Profile two_layers() {
  graph::Builder builder;
  profile::Profile profile;
  profile.batch = 64;
  for (int i = 0; i < 2; ++i) {
    builder.add_layer("layer" + std::to_string(i), "", {{"out", {}, Bytes{1}}});
    profile::LayerCost cost;
    cost.forward = cost.backward = std::chrono::milliseconds(8);
    profile.costs.push_back(cost);
  }
  builder.add_edge(LayerId{0}, 0, LayerId{1});
  profile.graph = std::move(builder).build();
  return profile;
}

// Returns the microbatches of the candidates that become of the plan of two stages.
std::vector<int> tried(const cost::SystemRules& rules, std::optional<int> microbatches) {
  const profile::Profile profile = two_layers();
  const Cuts cuts(profile);
  const cluster::Cluster cluster{"flat",
                                 {{.name = "server", .count = 2, .bandwidth = {1e9}}},
                                 std::vector<cluster::Device>(2, {Bytes{1 << 30}, 1})};
  const Predictor predictor(cuts, cluster, {.rules = rules, .microbatches = microbatches});
  Layout layout{.ends = {0, 1, 2}, .workers = {{WorkerId{0}}, {WorkerId{1}}}};
  const Candidates found =
      with_other_microbatches(predictor, as_candidates(predictor, {std::move(layout)}));
  std::vector<int> all;
  for (const Answer& answer : std::get<std::vector<Answer>>(found))
    all.push_back(answer.prediction.microbatches);
  return all;
}

// The more microbatches, the shorter are filling and draining. Two stages have at most eight.
TEST(WithOtherMicrobatches, HasHalfAsManyBehindThePredictedOnes) {
  EXPECT_EQ(tried(cost::kGpipe, {}), (std::vector{8, 4}));
}

TEST(WithOtherMicrobatches, KeepsTheNumberThatTheUserWants) {
  EXPECT_EQ(tried(cost::kGpipe, 2), (std::vector{2}));
}

TEST(WithOtherMicrobatches, ChangesNothingForSystemsThatDoNotCutMinibatches) {
  EXPECT_EQ(tried(cost::kPipedream, {}), (std::vector{1}));
}

}  // namespace
}  // namespace pipedream::plan
