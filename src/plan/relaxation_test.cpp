#include "plan/relaxation.h"

#include <gtest/gtest.h>

#include "cost/system_rules_testing.h"

namespace pipedream::plan {
namespace {

// Returns three layers of 2 s each. If a stage has replicas, averaging takes half a second of
// processor time per layer.
profile::Profile three_layers() {
  graph::Builder builder;
  profile::Profile profile;
  builder.add_input("data", {{"out", {}, Bytes{1}}});
  profile.costs.emplace_back();
  for (std::size_t i = 0; i < 3; ++i) {
    builder.add_layer("layer" + std::to_string(i), "", {{"out", {}, Bytes{1}}});
    builder.add_edge(id_at<LayerId>(i), 0, id_at<LayerId>(i + 1));
    profile.costs.push_back({.forward = std::chrono::seconds(1),
                             .backward = std::chrono::seconds(1),
                             .averaging = std::chrono::milliseconds(500)});
  }
  profile.graph = std::move(builder).build();
  return profile;
}

cluster::Cluster fast_links(int workers) {
  return {"fast links",
          {{.name = "link", .count = workers, .bandwidth = {1e12}}},
          std::vector<cluster::Device>(static_cast<std::size_t>(workers), {Bytes{1 << 30}, 1})};
}

TEST(Relaxation, HasWhatAveragingTakesOfTheProcessorWhereThereAreReplicas) {
  const profile::Profile profile = three_layers();
  const Cuts cuts(profile);
  const cluster::Cluster cluster = fast_links(2);
  const Predictor predictor(cuts, cluster, {.rules = cost::kPipedream});
  const Relaxation relaxation(predictor, /*straight=*/false);
  EXPECT_NEAR(relaxation.stage(0, cuts.last(), 1), 6, 1e-9);
  EXPECT_NEAR(relaxation.stage(0, cuts.last(), 2), (6 + 1.5) / 2, 1e-9);
  // Two stages, of two layers and of one layer, would take 4 s.
  EXPECT_NEAR(relaxation.bound(), (6 + 1.5) / 2, 1e-6);
  Layout replicas;
  replicas.ends = {0, cuts.last()};
  replicas.workers = {{WorkerId{0}, WorkerId{1}}};
  EXPECT_NEAR(relaxation.bound(), predictor.predict(replicas).per_minibatch.count(), 1e-6)
      << "which proves that plan to be the best";
}

TEST(Relaxation, AStageOnOneWorkerAveragesNothing) {
  const profile::Profile profile = three_layers();
  const Cuts cuts(profile);
  const cluster::Cluster cluster = fast_links(3);
  const Predictor predictor(cuts, cluster, {.rules = cost::kPipedream});
  EXPECT_NEAR(Relaxation(predictor, false).bound(), 2, 1e-6) << "a layer on each";
}

// The weights are 36 bytes, and network cards carry 4 bytes per second. In a ring of two levels, a
// server sends each byte once; in a ring of one level, it would send it 1.5 times.
TEST(Relaxation, KnowsRingsOfTwoLevels) {
  profile::Profile profile = three_layers();
  for (std::size_t i = 1; i < profile.costs.size(); ++i) profile.costs[i].weights = Bytes{12};
  const Cuts cuts(profile);
  const cluster::Cluster cluster{
      "two servers of two",
      {{.name = "server", .count = 2, .bandwidth = {1e12}},
       {.name = "network", .count = 2, .bandwidth = {4}, .shared = true}},
      std::vector<cluster::Device>(4, {Bytes{1 << 30}, 1})};
  const Predictor predictor(cuts, cluster, {.rules = cost::kPipedream});
  const Relaxation relaxation(predictor, /*straight=*/false);
  EXPECT_NEAR(relaxation.stage(0, cuts.last(), 4), 36.0 / 4 / 4, 1e-9);
  EXPECT_NEAR(relaxation.stage(0, cuts.last(), 3), 4.0 / 3 * 36 / 4 / 3, 1e-9)
      << "uneven: one ring";
  Layout replicas;
  replicas.ends = {0, cuts.last()};
  replicas.workers = {{WorkerId{0}, WorkerId{1}, WorkerId{2}, WorkerId{3}}};
  EXPECT_NEAR(predictor.predict(replicas).per_minibatch.count(), 36.0 / 4 / 4, 1e-9);
  EXPECT_LE(relaxation.bound(), 36.0 / 4 / 4);
}

}  // namespace
}  // namespace pipedream::plan
