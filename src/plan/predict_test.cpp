// Predictions that can be checked by hand. Times are whole seconds. Unless a test says otherwise, a
// link carries one byte per second, so that bytes are seconds too.
#include "plan/predict.h"

#include <gtest/gtest.h>

#include "cost/system_rules_testing.h"

namespace pipedream::plan {
namespace {

struct LayerOf {
  int forward;
  int backward;
  std::int64_t weights = 0;
  std::int64_t out = 0;  // bytes of its output, which the next layer uses
  std::int64_t stash = 0;
};

// Returns the chain data → layer0 → layer1 → …
profile::Profile chain(const std::vector<LayerOf>& layers) {
  graph::Builder builder;
  profile::Profile profile;
  profile.model = "chain";
  builder.add_input("data", {{"out", {}, Bytes{1000}}});
  profile.costs.emplace_back();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    builder.add_layer("layer" + std::to_string(i), "", {{"out", {}, Bytes{layers[i].out}}});
    builder.add_edge(id_at<LayerId>(i), 0, id_at<LayerId>(i + 1));
    profile::LayerCost cost;
    cost.forward = std::chrono::seconds(layers[i].forward);
    cost.backward = std::chrono::seconds(layers[i].backward);
    cost.weights = Bytes{layers[i].weights};
    cost.stash = Bytes{layers[i].stash};
    profile.costs.push_back(cost);
  }
  profile.graph = std::move(builder).build();
  return profile;
}

constexpr Bytes kPlenty{1 << 30};

cluster::Cluster flat(int workers, double bandwidth = 1, Nanos latency = Nanos(0)) {
  return {"flat",
          {{.name = "server", .count = workers, .bandwidth = {bandwidth}, .latency = latency}},
          std::vector<cluster::Device>(static_cast<std::size_t>(workers), {kPlenty, 1})};
}

// Returns servers with one network card each. Links inside a server are so fast that they do not
// count.
cluster::Cluster servers(int count, int inside, double between) {
  return {"servers",
          {{.name = "server", .count = inside, .bandwidth = {1e9}},
           {.name = "network", .count = count, .bandwidth = {between}, .shared = true}},
          std::vector<cluster::Device>(static_cast<std::size_t>(count * inside), {kPlenty, 1})};
}

// Returns a layout with one layer per stage. `workers` has the workers of each stage.
Layout layer_by_layer(const std::vector<std::vector<int>>& workers) {
  Layout layout;
  for (std::size_t s = 0; s < workers.size(); ++s) {
    layout.ends.push_back(s + 1);
    layout.workers.emplace_back();
    for (const int worker : workers[s]) layout.workers.back().push_back(WorkerId{worker});
  }
  return layout;
}

Layout straight(int stages) {
  std::vector<std::vector<int>> workers;
  for (int s = 0; s < stages; ++s) workers.push_back({s});
  return layer_by_layer(workers);
}

std::vector<int> up_to(int end) {
  std::vector<int> numbers;
  for (int i = 0; i < end; ++i) numbers.push_back(i);
  return numbers;
}

Prediction predict(const profile::Profile& profile, const cluster::Cluster& cluster,
                   const Layout& layout, Setting setting = {}) {
  if (setting.rules.time == nullptr) setting.rules = cost::kPipedream;
  const Cuts cuts(profile);
  return Predictor(cuts, cluster, setting).predict(layout);
}

std::vector<int> depths_of(const Prediction& prediction) {
  std::vector<int> depths;
  for (const StagePrediction& stage : prediction.stages) depths.push_back(stage.depth);
  return depths;
}

// Returns four layers with F = 1, B = 2 and transfers of 1. As four stages of slack 1, they are
// limited by the loop.
profile::Profile four_equal(std::int64_t weights = 0) {
  return chain(
      std::vector<LayerOf>(4, {.forward = 1, .backward = 2, .weights = weights, .out = 1}));
}

TEST(PredictPipedream, TheSlowestStageOfAStraightPipelineSetsThePace) {
  const Prediction found = predict(
      chain({{.forward = 1, .backward = 2}, {.forward = 2, .backward = 3}}), flat(2), straight(2));
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 5);
  EXPECT_EQ(found.limit, Limit::kCompute);
  EXPECT_EQ(found.limiting_stage, 1u);
  EXPECT_EQ(depths_of(found), (std::vector{2, 1}));
  EXPECT_EQ(found.minibatches_per_update, 1);
  EXPECT_EQ(found.microbatches, 1);
  EXPECT_DOUBLE_EQ(found.stages[1].forward.count(), 2);
  EXPECT_DOUBLE_EQ(found.stages[1].backward.count(), 3);
  EXPECT_FALSE(found.miss.has_value());
}

TEST(PredictPipedream, AnUpdateIsPartOfItsStagesBackward) {
  profile::Profile profile = four_equal();
  EXPECT_DOUBLE_EQ(predict(profile, flat(4), straight(4)).per_minibatch.count(), 3);
  profile.costs[2].update = std::chrono::seconds(4);  // the layer of stage 1
  const Prediction found = predict(profile, flat(4), straight(4));
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 3 + 4);
  EXPECT_EQ(found.limiting_stage, 1u);
  EXPECT_DOUBLE_EQ(found.stages[1].forward.count(), 1);
  EXPECT_DOUBLE_EQ(found.stages[1].backward.count(), 2 + 4);
  EXPECT_DOUBLE_EQ(found.stages[2].backward.count(), 2);
}

TEST(PredictPipedream, WithTheLeastDepthTransfersAreNotHidden) {
  Layout layout = straight(4);
  layout.depths = {4, 3, 2, 1};
  const Prediction found = predict(four_equal(), flat(4), layout);
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 4.5);  // (4·3 + 2·3·1) / 4
  EXPECT_EQ(found.limit, Limit::kLoop);
  EXPECT_EQ(found.limiting_stage, 0u);
  EXPECT_DOUBLE_EQ(found.stages[0].transfer.count(), 1);
  EXPECT_DOUBLE_EQ(found.stages[3].transfer.count(), 0);
}

TEST(PredictPipedream, TheBestDepthHidesTransfers) {
  const Prediction found = predict(four_equal(), flat(4), straight(4));
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 3);
  EXPECT_EQ(found.limit, Limit::kCompute);
  EXPECT_EQ(depths_of(found), (std::vector{7, 5, 3, 1}));
}

TEST(PredictPipedream, TheLeastDepthIsKeptWhereMoreWouldNotHelp) {
  const profile::Profile profile =
      chain(std::vector<LayerOf>(4, {.forward = 1, .backward = 2}));  // nothing to transfer
  EXPECT_EQ(depths_of(predict(profile, flat(4), straight(4))), (std::vector{4, 3, 2, 1}));
}

// Stage 0 with depth d has d weight versions of 10 bytes, a gradient and an optimiser state of 10
// bytes each, d outputs of 1 byte, and 1 byte of working memory.
TEST(PredictPipedream, TheLeastDepthIsKeptWhereMoreWouldNotFit) {
  const Prediction tight =
      predict(four_equal(10), flat(4), straight(4), {.memory = Bytes{40 + 10 + 10 + 4 + 1}});
  EXPECT_FALSE(tight.miss.has_value());
  EXPECT_DOUBLE_EQ(tight.per_minibatch.count(), 4.5);
  EXPECT_EQ(depths_of(tight), (std::vector{4, 3, 2, 1}));
  const Prediction roomy =
      predict(four_equal(10), flat(4), straight(4), {.memory = Bytes{70 + 10 + 10 + 7 + 1}});
  EXPECT_DOUBLE_EQ(roomy.per_minibatch.count(), 3);
}

TEST(PredictPipedream, LatencyIsPartOfEveryTransfer) {
  Layout layout = straight(2);
  layout.depths = {1, 1};
  const Prediction found =
      predict(chain({{.forward = 1, .backward = 2, .out = 3}, {.forward = 1, .backward = 2}}),
              flat(2, 1, std::chrono::seconds(5)), layout);
  EXPECT_DOUBLE_EQ(found.stages[0].transfer.count(), 8);
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 6 + 2 * 8);
  EXPECT_EQ(found.limit, Limit::kLoop);
}

TEST(PredictPipedream, ReplicasTakeMinibatchesInTurn) {
  const Prediction found =
      predict(chain({{.forward = 2, .backward = 4}}), flat(3), layer_by_layer({{0, 1, 2}}));
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 2);
  EXPECT_EQ(found.limit, Limit::kCompute);
  EXPECT_EQ(found.minibatches_per_update, 3);
  EXPECT_DOUBLE_EQ(found.stages[0].forward.count(), 2);  // on one replica
}

TEST(PredictPipedream, ReplicasAreHeldUpByTheirExchangeWhereThatTakesLonger) {
  const profile::Profile profile = chain({{.forward = 2, .backward = 4, .weights = 12}});
  const Prediction found = predict(profile, flat(2), layer_by_layer({{0, 1}}));
  EXPECT_DOUBLE_EQ(found.stages[0].exchange.count(), 12);  // 2·(1/2)·12 bytes
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 6);        // for two minibatches
  EXPECT_EQ(found.limit, Limit::kExchange);
  EXPECT_EQ(found.limiting_stage, 0u);
  const Prediction faster = predict(profile, flat(2, 10), layer_by_layer({{0, 1}}));
  EXPECT_DOUBLE_EQ(faster.per_minibatch.count(), 3);
  EXPECT_EQ(faster.limit, Limit::kCompute);
}

// Stage 0 has a replica on each server; stage 1 is on the first server. Per two minibatches, the
// first server's card carries 8 bytes of the ring in each direction. It also carries 6 bytes of
// values in and 6 bytes of gradients out, for the minibatch that comes from the other server.
TEST(PredictPipedream, ASharedNetworkCardCarriesTransfersAndExchangeTogether) {
  const Prediction found = predict(
      chain({{.forward = 1, .backward = 1, .weights = 8, .out = 6}, {.forward = 1, .backward = 1}}),
      servers(2, 2, 1), layer_by_layer({{0, 2}, {1}}));
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), (8 + 6) / 2.0);
  EXPECT_EQ(found.limit, Limit::kLink);
  EXPECT_EQ(found.busiest.level, 1u);
  EXPECT_DOUBLE_EQ(found.busiest.bytes, 7);
  // Each of two workers sends 8 bytes of a ring per two minibatches. Per minibatch, 6 bytes go
  // forth and 6 back.
  EXPECT_DOUBLE_EQ(found.bytes_per_minibatch, 8 + 12);
  EXPECT_DOUBLE_EQ(found.stages[0].sent_bytes, 6);
}

TEST(PredictPipedream, FifteenAndOneOnFourServersOfFour) {
  const profile::Profile profile =
      chain({{.forward = 15, .backward = 30, .weights = 15, .out = 15}, {1, 1}});
  const Layout layout = layer_by_layer({up_to(15), {15}});
  const Prediction fast = predict(profile, servers(4, 4, 10), layout);
  EXPECT_DOUBLE_EQ(fast.per_minibatch.count(), 3);  // 45 / 15
  EXPECT_EQ(fast.limit, Limit::kCompute);
  EXPECT_EQ(depths_of(fast), (std::vector{2, 1}));
  EXPECT_EQ(fast.minibatches_per_update, 15);
  // Twelve of fifteen minibatches, of 15 bytes each, reach the last server through its card. The
  // card also carries an edge of the ring: 2·(14/15)·15 bytes per fifteen minibatches.
  const Prediction slow = predict(profile, servers(4, 4, 1), layout);
  EXPECT_DOUBLE_EQ(slow.per_minibatch.count(), 12 + 28.0 / 15);
  EXPECT_EQ(slow.limit, Limit::kLink);
  EXPECT_EQ(slow.busiest.level, 1u);
  EXPECT_EQ(slow.busiest.link, 3u);
}

TEST(PredictPipedream, TheSlowestReplicaCounts) {
  cluster::Cluster cluster = flat(3);
  cluster.devices[0].speed = 2;
  cluster.devices[1].speed = 0.5;
  const Prediction found =
      predict(chain({{.forward = 2, .backward = 4}, {.forward = 2, .backward = 4}}), cluster,
              layer_by_layer({{0, 1}, {2}}));
  EXPECT_DOUBLE_EQ(found.stages[0].forward.count(), 4);
  EXPECT_DOUBLE_EQ(found.stages[0].backward.count(), 8);
  EXPECT_DOUBLE_EQ(found.stages[1].forward.count(), 2);
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 6);
}

TEST(PredictPipedream, TheLongestWayDecidesWhereAValueSkipsAStage) {
  graph::Builder builder;
  profile::Profile profile;
  builder.add_input("data", {{"out", {}, Bytes{0}}});
  builder.add_layer("a", "", {{"near", {}, Bytes{1}}, {"far", {}, Bytes{9}}});
  builder.add_layer("b", "", {{"out", {}, Bytes{1}}});
  builder.add_layer("c", "", {{"out", {}, Bytes{0}}});
  builder.add_edge("data", "", "a");
  builder.add_edge("a", "near", "b");
  builder.add_edge("b", "", "c");
  builder.add_edge("a", "far", "c");
  profile.graph = std::move(builder).build();
  profile.costs.resize(4);
  for (std::size_t i = 1; i < 4; ++i) profile.costs[i].forward = std::chrono::seconds(1);
  Layout layout = straight(3);
  layout.depths = {1, 1, 1};
  const Prediction found = predict(profile, flat(3), layout);
  // The longest way forth is a, 9 bytes to c, c. It is longer than a, 1 byte, b, 1 byte, c. The way
  // back is the 9 bytes, since backwards take no time.
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 1 + 9 + 1 + 9);
  EXPECT_EQ(found.limit, Limit::kLoop);
  EXPECT_DOUBLE_EQ(found.stages[0].sent_bytes, 10);
  EXPECT_DOUBLE_EQ(found.stages[0].transfer.count(), 9);
}

TEST(PredictDepth, TheRecursionIsDeeperThanNoamForGeneralReplicas) {
  const profile::Profile profile = chain(std::vector<LayerOf>(3, {.forward = 1, .backward = 2}));
  const Layout layout = layer_by_layer({{0}, {1, 2}, {3}});
  EXPECT_EQ(depths_of(predict(profile, flat(4), layout)), (std::vector{5, 2, 1}));
  EXPECT_EQ(depths_of(predict(profile, flat(4), layout, {.depth = Depth::kNoam})),
            (std::vector{4, 2, 1}));
}

TEST(PredictDepth, ANumberAllowsTheDeepestPipelineUpToIt) {
  const profile::Profile profile = chain(std::vector<LayerOf>(3, {.forward = 1, .backward = 2}));
  const auto with = [&](int most) {
    return depths_of(
        predict(profile, flat(3), straight(3), {.depth = Depth::kUpTo, .most_depth = most}));
  };
  EXPECT_EQ(with(5), (std::vector{5, 3, 1}));
  EXPECT_EQ(with(4), (std::vector{3, 2, 1}));
  EXPECT_EQ(with(2), (std::vector{2, 2, 1}));
  EXPECT_EQ(with(1), (std::vector{1, 1, 1}));
}

TEST(PredictDepth, WithOneInFlightAPipelineDoesOneMinibatchAtATime) {
  const Prediction found =
      predict(four_equal(), flat(4), straight(4), {.depth = Depth::kUpTo, .most_depth = 1});
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 18);
  EXPECT_EQ(found.limit, Limit::kLoop);
}

TEST(PredictDepth, ThePlannersOwnDepthsAreKept) {
  Layout layout = straight(4);
  layout.depths = {6, 3, 2, 1};
  const Prediction found = predict(four_equal(), flat(4), layout);
  EXPECT_EQ(depths_of(found), layout.depths);
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 13.0 / 3);  // stage 1: (3·3 + 2·2·1) / 3
  EXPECT_EQ(found.limiting_stage, 1u);
}

// The second layer is a bucket of 3·kBucket bytes, which is averaged from 2 + 3 = 5 s to 11 s. The
// first layer's backward ends at 7 s. Its bucket of kBucket bytes is averaged from 11 s to 13 s.
TEST(PredictDataParallel, AveragingOverlapsWithBackward) {
  constexpr std::int64_t kBucket = 25 << 20;
  const profile::Profile profile = chain({{.forward = 1, .backward = 2, .weights = kBucket},
                                          {.forward = 1, .backward = 3, .weights = 3 * kBucket}});
  Layout layout;
  layout.ends = {0, 2};
  layout.workers = {{WorkerId{0}, WorkerId{1}}};
  const Setting setting{.rules = cost::kDataParallel};
  const Prediction slow = predict(profile, flat(2, kBucket / 2.0), layout, setting);
  EXPECT_DOUBLE_EQ(slow.per_minibatch.count(), 13 / 2.0);
  EXPECT_EQ(slow.limit, Limit::kExchange);
  EXPECT_EQ(slow.minibatches_per_update, 2);
  const Prediction fast = predict(profile, flat(2, kBucket * 250.0), layout, setting);
  EXPECT_DOUBLE_EQ(fast.per_minibatch.count(), (7 + 0.004) / 2);  // one bucket at the end
  EXPECT_EQ(fast.limit, Limit::kCompute);
}

// The backward may hide the averaging, but nothing hides the update.
TEST(PredictDataParallel, AnUpdateComesOnTopOfEverything) {
  constexpr std::int64_t kBucket = 25 << 20;
  profile::Profile profile = chain({{.forward = 1, .backward = 2, .weights = kBucket},
                                    {.forward = 1, .backward = 3, .weights = 3 * kBucket}});
  profile.costs[1].update = std::chrono::seconds(1);
  profile.costs[2].update = std::chrono::seconds(4);
  Layout layout;
  layout.ends = {0, 2};
  layout.workers = {{WorkerId{0}, WorkerId{1}}};
  const Setting setting{.rules = cost::kDataParallel};
  const Prediction slow = predict(profile, flat(2, kBucket / 2.0), layout, setting);
  EXPECT_DOUBLE_EQ(slow.per_minibatch.count(), (13 + 5) / 2.0);
  const Prediction fast = predict(profile, flat(2, kBucket * 250.0), layout, setting);
  EXPECT_DOUBLE_EQ(fast.per_minibatch.count(), (7 + 0.004 + 5) / 2);
}

// The 16 bytes of both layers do not fill a bucket. They are averaged after the backward, which
// takes 16 s at a byte per second and two latencies.
TEST(PredictDataParallel, SmallLayersAreAveragedTogetherAtTheEnd) {
  const profile::Profile profile = chain(
      {{.forward = 1, .backward = 2, .weights = 4}, {.forward = 1, .backward = 3, .weights = 12}});
  Layout layout;
  layout.ends = {0, 2};
  layout.workers = {{WorkerId{0}, WorkerId{1}}};
  const Prediction found =
      predict(profile, flat(2, 1, std::chrono::seconds(1)), layout, {.rules = cost::kDataParallel});
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), (7 + 16 + 2) / 2.0);
}

// The push after the backward takes half of an exchange, and the fetch after it the other half.
// Nothing overlaps them.
TEST(PredictAsynchronous, PushesAndFetchesAreOneExchangeAfterTheBackward) {
  const profile::Profile profile = chain({{.forward = 1, .backward = 5, .weights = 16}});
  const Prediction found =
      predict(profile, flat(2), layer_by_layer({{0, 1}}),
              {.rules = cost::kAsynchronous, .exchange = cost::Exchange::kParameterServer});
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), (6 + 8 + 8) / 2.0);
  EXPECT_EQ(found.limit, Limit::kExchange);
  EXPECT_EQ(found.minibatches_per_update, 1);
}

TEST(PredictDataParallel, TheSlowestWorkerHoldsUpAll) {
  cluster::Cluster cluster = flat(2);
  cluster.devices[1].speed = 0.5;
  const Prediction found = predict(chain({{.forward = 1, .backward = 2}}), cluster,
                                   layer_by_layer({{0, 1}}), {.rules = cost::kDataParallel});
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 6 / 2.0);
}

TEST(PredictModelParallel, AMinibatchPassesAllStagesForthAndBackAlone) {
  const Prediction found =
      predict(chain({{.forward = 1, .backward = 2, .out = 2}, {.forward = 2, .backward = 3}}),
              flat(2), straight(2), {.rules = cost::kModelParallel});
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 1 + 2 + 2 + 3 + 2 + 2);
  EXPECT_EQ(found.limit, Limit::kLatency);
  EXPECT_EQ(found.microbatches, 1);
  EXPECT_EQ(depths_of(found), (std::vector{1, 1}));
}

profile::Profile two_stages() {
  return chain({{.forward = 4, .backward = 8, .weights = 10, .out = 2, .stash = 16},
                {.forward = 2, .backward = 4, .weights = 10, .stash = 16}});
}

// An item is a quarter of a minibatch: 1 + 2 on stage 0, 1/2 on the link in each direction, 1/2 + 1
// on stage 1.
TEST(PredictGpipe, FillsAndDrainsForEveryMinibatch) {
  const Prediction found =
      predict(two_stages(), flat(2), straight(2), {.rules = cost::kGpipe, .microbatches = 4});
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), (1 + 0.5 + 0.5) + (1 + 0.5 + 2) + 3 * (1 + 2));
  EXPECT_EQ(found.limit, Limit::kLatency);
  EXPECT_EQ(found.microbatches, 4);
  EXPECT_DOUBLE_EQ(found.stages[0].transfer.count(), 0.5);
  EXPECT_EQ(depths_of(found), (std::vector{4, 4}));
  EXPECT_EQ(found.stages[0].memory.weights, Bytes{10});          // one version
  EXPECT_EQ(found.stages[0].memory.activations, Bytes{18});      // all four quarters of 16 + 2
  EXPECT_EQ(found.stages[1].memory.activations, Bytes{16 + 2});  // own and received values
}

TEST(PredictGpipe, RecomputationRunsForwardsTwiceAndKeepsOnlyWhatCameIn) {
  const Prediction found =
      predict(two_stages(), flat(2), straight(2),
              {.rules = cost::kGpipe, .recompute = Recompute::kAlways, .microbatches = 4});
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), (1 + 0.5 + 0.5) + (1.5 + 0.5 + 3) + 3 * (1 + 3));
  EXPECT_DOUBLE_EQ(found.stages[0].forward.count(), 4);
  EXPECT_DOUBLE_EQ(found.stages[0].backward.count(), 12);
  EXPECT_TRUE(found.stages[0].recompute);
  EXPECT_TRUE(found.stages[1].recompute);
  EXPECT_EQ(found.stages[0].memory.activations, Bytes{5});      // a quarter of 18, rounded up
  EXPECT_EQ(found.stages[1].memory.activations, Bytes{4 + 2});  // with all it received
}

TEST(PredictGpipe, TakesFourMicrobatchesPerStageWhereNothingSpeaksAgainstIt) {
  const Prediction found = predict(two_stages(), flat(2), straight(2), {.rules = cost::kGpipe});
  EXPECT_EQ(found.microbatches, 8);
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 1 + 1.75 + 7 * 1.5);
}

TEST(PredictGpipe, DoesNotCutAMinibatchIntoMoreThanItsSamples) {
  profile::Profile profile = two_stages();
  profile.batch = 3;
  const Prediction found = predict(profile, flat(2), straight(2), {.rules = cost::kGpipe});
  EXPECT_EQ(found.microbatches, 2);
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 4 + 7 + 6);
}

TEST(PredictGpipe, LatencySpeaksForFewMicrobatches) {
  const Prediction found = predict(two_stages(), flat(2, 1, std::chrono::seconds(10)), straight(2),
                                   {.rules = cost::kGpipe});
  EXPECT_EQ(found.microbatches, 1);
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 18 + 2 * 12);
}

// Of the first stage's 4 + 8 seconds, 1 + 2 are fixed. In 4 parts it takes 3 + 6 seconds more.
profile::Profile two_stages_with_fixed() {
  profile::Profile profile = two_stages();
  profile.costs[1].fixed_forward = std::chrono::seconds(1);
  profile.costs[1].fixed_backward = std::chrono::seconds(2);
  return profile;
}

TEST(PredictGpipe, EveryMicrobatchTakesWhatIsFixed) {
  const Prediction found = predict(two_stages_with_fixed(), flat(2), straight(2),
                                   {.rules = cost::kGpipe, .microbatches = 4});
  EXPECT_DOUBLE_EQ(found.stages[0].forward.count(), 4 + 3);
  EXPECT_DOUBLE_EQ(found.stages[0].backward.count(), 8 + 6);
  EXPECT_DOUBLE_EQ(found.stages[1].forward.count(), 2);
  // An item takes 1.75 + 3.5 on stage 0, 0.5 on the link in each direction, and 0.5 + 1 on stage 1.
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(),
                   (1.75 + 0.5 + 0.5) + (1 + 0.5 + 3.5) + 3 * (1.75 + 3.5));
}

TEST(PredictGpipe, RecomputationTakesWhatIsFixedOfTheForwardAgain) {
  const Prediction found =
      predict(two_stages_with_fixed(), flat(2), straight(2),
              {.rules = cost::kGpipe, .recompute = Recompute::kAlways, .microbatches = 4});
  EXPECT_DOUBLE_EQ(found.stages[0].backward.count(), (8 + 6) + (4 + 3));
  EXPECT_DOUBLE_EQ(found.stages[1].backward.count(), 4 + 2);
}

TEST(PredictGpipe, WhatIsFixedSpeaksForFewMicrobatches) {
  profile::Profile profile = two_stages();
  for (profile::LayerCost& cost : profile.costs) {
    cost.fixed_forward = cost.forward;
    cost.fixed_backward = cost.backward;
  }
  EXPECT_EQ(predict(profile, flat(2), straight(2), {.rules = cost::kGpipe}).microbatches, 1);
}

TEST(PredictPipedream, WhatIsFixedChangesNothingForWholeMinibatches) {
  const Prediction found = predict(two_stages_with_fixed(), flat(2), straight(2));
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 12);
  EXPECT_DOUBLE_EQ(found.stages[0].forward.count(), 4);
}

// An item takes 1 + 2 on stage 0 and 2 + 3 on stage 1. The last stage is the pivot: it waits for
// one forward, runs four items, and then the last backward passes stage 0.
TEST(PredictDapple, TheLastStageIsThePivotWhereItIsTheSlowest) {
  const Prediction found =
      predict(chain({{.forward = 4, .backward = 8}, {.forward = 8, .backward = 12}}), flat(2),
              straight(2), {.rules = cost::kDapple, .microbatches = 4});
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), (1 + 2) + 3 * (2 + 3) + (3 + 2));
  EXPECT_EQ(found.limit, Limit::kLatency);
  EXPECT_EQ(depths_of(found), (std::vector{2, 1}));
  EXPECT_EQ(found.minibatches_per_update, 1);
}

// An item takes 2 + 4 on stage 0 and 1 + 1 on stage 1. Stage 0 never waits.
TEST(PredictDapple, AnEarlierStageIsThePivotWhereItIsTheSlowest) {
  const Prediction found =
      predict(chain({{.forward = 8, .backward = 16}, {.forward = 4, .backward = 4}}), flat(2),
              straight(2), {.rules = cost::kDapple, .microbatches = 4});
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 4 * (2 + 4));
}

// An update has two minibatches in four items, so each item is half a minibatch. The two replicas
// of stage 0 share it.
TEST(PredictDapple, ReplicasShareEveryMicrobatch) {
  const Prediction found =
      predict(chain({{.forward = 8, .backward = 16, .weights = 4, .stash = 8},
                     {.forward = 4, .backward = 4, .stash = 8}}),
              flat(3), layer_by_layer({{0, 1}, {2}}), {.rules = cost::kDapple, .microbatches = 4});
  // Stage 0 is the pivot. An item takes 2 + 4 there, and 4 bytes are averaged at the end.
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), (2 + 3 * 6 + 4 + 4) / 2.0);
  EXPECT_EQ(found.minibatches_per_update, 2);
  EXPECT_EQ(depths_of(found), (std::vector{2, 1}));
  EXPECT_EQ(found.stages[0].memory.activations, Bytes{4});  // 2 items of 8 / 4
  EXPECT_EQ(found.stages[1].memory.activations, Bytes{4});  // 1 item of 2·8 / 4
}

// An item is half a minibatch on stage 1, and a quarter on each of the two replicas of stage 0. So
// stage 0 takes its fixed time four times per minibatch, stage 1 twice.
TEST(PredictDapple, EveryReplicaThatSharesAnItemTakesWhatIsFixed) {
  profile::Profile profile =
      chain({{.forward = 8, .backward = 16, .weights = 4}, {.forward = 4, .backward = 4}});
  profile.costs[1].fixed_forward = std::chrono::seconds(4);
  profile.costs[2].fixed_backward = std::chrono::seconds(2);
  const Prediction found = predict(profile, flat(3), layer_by_layer({{0, 1}, {2}}),
                                   {.rules = cost::kDapple, .microbatches = 4});
  EXPECT_DOUBLE_EQ(found.stages[0].forward.count(), 8 + 3 * 4);
  EXPECT_DOUBLE_EQ(found.stages[1].backward.count(), 4 + 2);
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), (5 + 3 * (5 + 4) + 4 + 4) / 2.0);
}

// The only item of an update is two minibatches of 4 bytes. Both replicas of stage 0 send their
// halves to one worker.
TEST(PredictDapple, WhoeverReceivesFromAllReplicasReceivesAllOfIt) {
  const Prediction found =
      predict(chain({{.forward = 1, .backward = 2, .out = 4}, {.forward = 1, .backward = 1}}),
              flat(3), layer_by_layer({{0, 1}, {2}}), {.rules = cost::kDapple, .microbatches = 1});
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), (1 + 8 + 2 + 2 + 8 + 2) / 2.0);
}

// Stage 0 has 8 bytes of activations per minibatch and 2 per item. So 3 bytes of memory are enough
// for one item in flight.
TEST(PredictDapple, FewerInFlightIsBetterThanRecomputationWhereForwardsAreLong) {
  const profile::Profile profile =
      chain({{.forward = 8, .backward = 4, .stash = 8}, {.forward = 1, .backward = 1}});
  const Setting setting{.rules = cost::kDapple,
                        .memory = Bytes{3},
                        .recompute = Recompute::kWhereNeeded,
                        .microbatches = 4};
  const Prediction found = predict(profile, flat(2), straight(2), setting);
  EXPECT_FALSE(found.miss.has_value());
  EXPECT_FALSE(found.stages[0].recompute);
  EXPECT_EQ(depths_of(found), (std::vector{1, 1}));
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 2 + 3 * (2 + 0.25 + 0.25 + 1) + 1);
  Setting roomy = setting;
  roomy.memory = Bytes{4};
  const Prediction all = predict(profile, flat(2), straight(2), roomy);
  EXPECT_EQ(depths_of(all), (std::vector{2, 1}));
  EXPECT_DOUBLE_EQ(all.per_minibatch.count(), 4 * (2 + 1));
}

TEST(PredictDapple, RecomputationIsBetterThanFewerInFlightWhereForwardsAreShort) {
  const profile::Profile profile =
      chain({{.forward = 4, .backward = 8, .stash = 8}, {.forward = 4, .backward = 8}});
  Setting setting{.rules = cost::kDapple,
                  .memory = Bytes{3},
                  .recompute = Recompute::kWhereNeeded,
                  .microbatches = 4};
  const Prediction found = predict(profile, flat(2), straight(2), setting);
  EXPECT_FALSE(found.miss.has_value());
  EXPECT_TRUE(found.stages[0].recompute);
  EXPECT_FALSE(found.stages[1].recompute);
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), (1 + 1) + 3 * 3 + (2 + 3));
  setting.recompute = Recompute::kNever;
  const Prediction shallow = predict(profile, flat(2), straight(2), setting);
  EXPECT_FALSE(shallow.miss.has_value());
  EXPECT_EQ(depths_of(shallow), (std::vector{1, 1}));
  EXPECT_DOUBLE_EQ(shallow.per_minibatch.count(), (1 + 1) + 3 * 6 + (2 + 2));
}

TEST(PredictTwoBuffered, KeepsTwoVersionsAndAsManyMicrobatchesAsStages) {
  const profile::Profile profile =
      chain(std::vector<LayerOf>(3, {.forward = 4, .backward = 8, .weights = 10, .stash = 12}));
  const Prediction found = predict(profile, flat(3), straight(3), {.rules = cost::kTwoBuffered});
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 12);  // no flush: the slowest stage decides
  EXPECT_EQ(found.limit, Limit::kCompute);
  EXPECT_EQ(found.microbatches, 3);
  EXPECT_EQ(depths_of(found), (std::vector{3, 2, 1}));
  for (const StagePrediction& stage : found.stages) {
    EXPECT_EQ(stage.memory.weights, Bytes{20});
    EXPECT_EQ(stage.memory.gradients, Bytes{10});
  }
  EXPECT_EQ(found.stages[0].memory.activations, Bytes{12});  // 3 items of 4 bytes
  EXPECT_EQ(found.stages[2].memory.activations, Bytes{4});
}

TEST(PredictTwoBuffered, EveryMicrobatchTakesWhatIsFixed) {
  profile::Profile profile = chain({{.forward = 4, .backward = 8}, {.forward = 2, .backward = 4}});
  profile.costs[2].fixed_backward = std::chrono::seconds(3);
  const Prediction found =
      predict(profile, flat(2), straight(2), {.rules = cost::kTwoBuffered, .microbatches = 4});
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 2 + 4 + 3 * 3);
  EXPECT_EQ(found.limiting_stage, 1U);
}

TEST(PredictTwoBuffered, ReplicasNeedASecondGradient) {
  const Prediction found = predict(chain({{.forward = 4, .backward = 8, .weights = 10}}), flat(2),
                                   layer_by_layer({{0, 1}}), {.rules = cost::kTwoBuffered});
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 6);
  EXPECT_EQ(found.minibatches_per_update, 2);
  EXPECT_EQ(found.stages[0].memory.weights, Bytes{20});
  EXPECT_EQ(found.stages[0].memory.gradients, Bytes{20});
}

TEST(PredictTwoBuffered, RecomputationTakesTimeAndSavesMemory) {
  const profile::Profile profile = chain(
      {{.forward = 4, .backward = 8, .stash = 12}, {.forward = 4, .backward = 8, .stash = 12}});
  Setting setting{.rules = cost::kTwoBuffered,
                  .memory = Bytes{6},
                  .recompute = Recompute::kWhereNeeded,
                  .microbatches = 2};
  const Prediction found = predict(profile, flat(2), straight(2), setting);
  EXPECT_FALSE(found.miss.has_value());
  EXPECT_TRUE(found.stages[0].recompute);   // 2 items of 6 bytes do not fit
  EXPECT_FALSE(found.stages[1].recompute);  // 1 item of 6 bytes fits
  EXPECT_DOUBLE_EQ(found.per_minibatch.count(), 4 + 4 + 8);
}

// Stage 0 needs 40 + 10 + 10 bytes for weights, gradients and optimiser state, 4 for outputs and 1
// to work with: 65. Stage 1 needs 30 + 10 + 10, 3 for outputs, 3 for inputs, 2 for inputs received
// ahead and 2 to work with: 60.
TEST(PredictMemory, AMissNamesTheStageThatLacksMostAndHowMuch) {
  Layout layout = straight(4);
  layout.depths = {4, 3, 2, 1};  // depths that a layout gives do not shrink
  const Prediction found = predict(four_equal(10), flat(4), layout, {.memory = Bytes{58}});
  ASSERT_TRUE(found.miss.has_value());
  EXPECT_EQ(found.miss->stage, StageId{0});
  EXPECT_EQ(found.miss->bytes, Bytes{65 - 58});
  EXPECT_EQ(found.stages[0].memory.total(), Bytes{65});
  EXPECT_EQ(found.stages[1].memory.total(), Bytes{60});
  EXPECT_EQ(found.stages[1].memory.buffers, Bytes{2});
  const Prediction just = predict(four_equal(10), flat(4), layout, {.memory = Bytes{64}});
  ASSERT_TRUE(just.miss.has_value());
  EXPECT_EQ(just.miss->bytes, Bytes{1});
}

TEST(PredictMemory, TheDevicesOwnMemoryCountsWhereItIsLess) {
  cluster::Cluster cluster = flat(4);
  for (cluster::Device& device : cluster.devices) device.memory = Bytes{100};
  cluster.devices[1].memory = Bytes{50};
  Layout layout = straight(4);
  layout.depths = {4, 3, 2, 1};
  const Prediction found = predict(four_equal(10), cluster, layout, {.memory = Bytes{1000}});
  EXPECT_EQ(found.stages[0].memory_limit, Bytes{100});
  ASSERT_TRUE(found.miss.has_value());
  EXPECT_EQ(found.miss->stage, StageId{1});
  EXPECT_EQ(found.miss->bytes, Bytes{10});
  const Prediction less = predict(four_equal(10), cluster, layout, {.memory = Bytes{40}});
  EXPECT_EQ(less.stages[0].memory_limit, Bytes{40});
  EXPECT_EQ(less.stages[1].memory_limit, Bytes{40});
}

// Stage 0 would have 4 minibatches in flight, but only 2 fit into 50 bytes: 20 + 10 + 10 for
// weights, gradients and optimiser state, 2 for outputs, and 1 to work with. Then the loop through
// all stages is the limit.
TEST(PredictMemory, WhereItIsShortStagesHaveFewerInFlight) {
  const Prediction found = predict(four_equal(10), flat(4), straight(4), {.memory = Bytes{50}});
  EXPECT_FALSE(found.miss.has_value());
  EXPECT_LT(found.stages[0].depth, 4);
  EXPECT_EQ(found.stages[3].depth, 1);
  EXPECT_LE(found.stages[0].memory.total(), Bytes{50});
  EXPECT_EQ(found.limit, Limit::kLoop);
  const Prediction ample = predict(four_equal(10), flat(4), straight(4));
  EXPECT_GT(found.per_minibatch, ample.per_minibatch);
}

TEST(PredictMemory, TheSmallestReplicaCounts) {
  cluster::Cluster cluster = flat(3);
  cluster.devices[1].memory = Bytes{35};
  const Prediction found = predict(chain({{.forward = 1, .backward = 1, .weights = 10}}), cluster,
                                   layer_by_layer({{0, 1, 2}}));
  EXPECT_EQ(found.stages[0].memory_limit, Bytes{35});
  // One weight version, two gradient buffers (one is averaged while the next is computed) and one
  // optimiser state.
  EXPECT_EQ(found.stages[0].memory.total(), Bytes{40});
  ASSERT_TRUE(found.miss.has_value());
  EXPECT_EQ(found.miss->bytes, Bytes{5});
}

TEST(PredictMemory, TheOptimisersStateIsCountedInCopiesOfTheWeights) {
  const profile::Profile profile = chain({{.forward = 1, .backward = 1, .weights = 10}});
  for (const int copies : {0, 1, 2})
    EXPECT_EQ(predict(profile, flat(1), straight(1), {.optimiser_copies = copies})
                  .stages[0]
                  .memory.optimiser,
              Bytes{10 * copies});
}

TEST(PredictExchange, AllToAllSendsThroughTheCardWhatARingSendsToNeighbours) {
  const profile::Profile profile = chain({{.forward = 1, .backward = 1, .weights = 16}});
  const Layout layout = layer_by_layer({up_to(4)});
  // Each server has two workers, so the ring has two levels: 2·(1/2)·16 bytes inside at 1 GB/s,
  // then 2·(1/2)·16 bytes over each card.
  EXPECT_DOUBLE_EQ(predict(profile, servers(2, 2, 1), layout).per_minibatch.count(),
                   (16 + 16e-9) / 4.0);
  // Both workers of a server send a shard of 4 bytes to both workers of the other, twice.
  EXPECT_DOUBLE_EQ(
      predict(profile, servers(2, 2, 1), layout, {.exchange = cost::Exchange::kAllToAll})
          .per_minibatch.count(),
      32 / 4.0);
}

TEST(ToPlan, SaysWhatTheLayoutAndThePredictionSay) {
  const profile::Profile profile =
      chain(std::vector<LayerOf>(3, {.forward = 2, .backward = 4, .stash = 4}));
  const Cuts cuts(profile);
  Layout layout;
  layout.ends = {0, 2, 3};
  layout.workers = {{WorkerId{2}, WorkerId{0}}, {WorkerId{1}}};
  Prediction prediction;
  prediction.microbatches = 4;
  prediction.stages.resize(2);
  prediction.stages[0].depth = 3;
  prediction.stages[1].recompute = true;
  const Plan plan = to_plan(cuts, layout, prediction, "2bw");
  EXPECT_EQ(plan.system, "2bw");
  EXPECT_EQ(plan.microbatches, 4);
  EXPECT_EQ(config_text(plan), "2-1");
  ASSERT_EQ(plan.stages.size(), 2u);
  EXPECT_EQ(plan.stages[0].layers, (std::vector{LayerId{1}, LayerId{2}}));
  EXPECT_EQ(plan.stages[1].layers, (std::vector{LayerId{3}}));
  EXPECT_EQ(plan.stages[0].workers, (std::vector{WorkerId{2}, WorkerId{0}}));
  EXPECT_EQ(plan.stages[0].depth, 3);
  EXPECT_EQ(plan.stages[1].depth, 1);
  EXPECT_FALSE(plan.stages[0].recompute);
  EXPECT_TRUE(plan.stages[1].recompute);
}

}  // namespace
}  // namespace pipedream::plan
