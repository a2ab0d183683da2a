#include "cost/buckets.h"

#include <gtest/gtest.h>

namespace pipedream::cost {
namespace {

constexpr std::int64_t kFirst = 1 << 20;
constexpr std::int64_t kAlone = 4 << 20;
constexpr std::int64_t kFull = 25 << 20;

struct Layer {
  std::int64_t weights;
  std::int64_t backward = 1;
  std::int64_t update = 0;
};

std::vector<Bucket> buckets_of(const std::vector<Layer>& layers) {
  profile::Profile profile;
  std::vector<LayerId> ids;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    profile.costs.push_back({.backward = Nanos(layers[i].backward),
                             .weights = Bytes{layers[i].weights},
                             .update = Nanos(layers[i].update)});
    ids.push_back(id_at<LayerId>(i));
  }
  return buckets(profile, ids);
}

using Buckets = std::vector<Bucket>;

TEST(Buckets, AreFilledFromTheLastLayerToTheFirst) {
  EXPECT_EQ(buckets_of({{10}, {20}, {30}, {kFirst - 30}}),
            (Buckets{{Bytes{kFirst}, 0.5}, {Bytes{30}, 1}}));
}

TEST(Buckets, AreFullSoonerWhileThereIsNoneYet) {
  std::vector<Layer> layers(10, Layer{.weights = 3 << 20});
  EXPECT_EQ(buckets_of(layers), (Buckets{{Bytes{3 << 20}, 0.1}, {Bytes{27 << 20}, 1}}));
}

TEST(Buckets, OfLargeLayersAreTheirOwn) {
  EXPECT_EQ(buckets_of({{10}, {kAlone}, {kFirst - 10}, {kFull}}),
            (Buckets{{Bytes{kFull}, 0.25}, {Bytes{kAlone}, 0.75}, {Bytes{kFirst}, 1}}));
  EXPECT_EQ(buckets_of({{kAlone}, {10}}), (Buckets{{Bytes{kAlone}, 1}, {Bytes{10}, 1}}))
      << "the bucket of all small layers comes last";
}

TEST(Buckets, OfSmallLayersAreOneThatIsThereAtTheEnd) {
  EXPECT_EQ(buckets_of({{1}, {2}, {3}, {kFirst - 7}}), (Buckets{{Bytes{kFirst - 1}, 1}}));
}

TEST(Buckets, NeverCutALayer) {
  EXPECT_EQ(buckets_of({{10 * kFull}, {5 * kFull}}),
            (Buckets{{Bytes{5 * kFull}, 0.5}, {Bytes{10 * kFull}, 1}}));
  EXPECT_EQ(buckets_of({{kAlone - 1}, {kFirst - 1}}), (Buckets{{Bytes{kAlone + kFirst - 2}, 1}}))
      << "one that is almost full takes the whole next layer";
}

TEST(Buckets, AreReleasedByTheTimeOfTheLayersBehind) {
  EXPECT_EQ(buckets_of({{kFull, 60}, {kFull, 10}, {kFull, 30}}),
            (Buckets{{Bytes{kFull}, 0.3}, {Bytes{kFull}, 0.4}, {Bytes{kFull}, 1}}));
}

TEST(Buckets, DoNotWaitForLayersWithoutWeights) {
  EXPECT_EQ(buckets_of({{0, 50}, {kFull, 20}, {0, 30}}), (Buckets{{Bytes{kFull}, 0.5}}))
      << "the first layer has nothing to average";
  EXPECT_EQ(buckets_of({{5, 20}, {0, 60}, {kFull, 20}}),
            (Buckets{{Bytes{kFull}, 0.2}, {Bytes{5}, 1}}));
}

TEST(Buckets, OfABackwardThatTakesNoTimeAreThereAtItsEnd) {
  EXPECT_EQ(buckets_of({{kFull, 0}, {kFull, 0}}), (Buckets{{Bytes{kFull}, 1}, {Bytes{kFull}, 1}}));
}

// All updates (20) count before the backwards (30 + 10 + 40). So the time between two releases is
// not shorter than without updates.
TEST(Buckets, AreReleasedByTheBackwardWithAllUpdatesBeforeIt) {
  EXPECT_EQ(buckets_of({{kFull, 40, 15}, {0, 10}, {kFull, 30, 5}}),
            (Buckets{{Bytes{kFull}, 0.5}, {Bytes{kFull}, 1}}));
  EXPECT_EQ(buckets_of({{kFull, 0, 5}}), (Buckets{{Bytes{kFull}, 1}})) << "a backward of no time";
}

// A quarter of the minibatch takes 20/4 for the update, 40/4 for the second layer's backward, and
// 20 + 60/4 for the first layer's, since 20 of its 80 are fixed.
TEST(Buckets, OfAPartAreReleasedByWhatAPartTakes) {
  profile::Profile profile;
  profile.costs = {{.backward = Nanos(80), .weights = Bytes{kFull}, .fixed_backward = Nanos(20)},
                   {.backward = Nanos(40), .weights = Bytes{kFull}, .update = Nanos(20)}};
  const std::vector<LayerId> stage{LayerId{0}, LayerId{1}};
  ASSERT_EQ(buckets(profile, stage, 0.25).size(), 2U);
  EXPECT_DOUBLE_EQ(buckets(profile, stage, 0.25)[0].released, (5 + 10) / 50.0);
  EXPECT_EQ(buckets(profile, stage, 0.25)[1].released, 1);
  EXPECT_DOUBLE_EQ(buckets(profile, stage)[0].released, (20 + 40) / 140.0) << "of the whole";
}

TEST(Buckets, WithoutAnyWeightsAreOneOfNothing) {
  ASSERT_EQ(buckets_of({{0}, {0}}).size(), 1U);
  EXPECT_EQ(buckets_of({{0}, {0}})[0].weights, Bytes{0});
  ASSERT_EQ(buckets_of({}).size(), 1U);
  EXPECT_EQ(buckets_of({})[0].weights, Bytes{0});
}

TEST(Buckets, AreThoseOfTheGivenLayersAlone) {
  profile::Profile profile;
  for (int i = 0; i < 4; ++i)
    profile.costs.push_back({.backward = Nanos(10), .weights = Bytes{100 + i}});
  const std::vector<LayerId> stage{LayerId{1}, LayerId{3}};
  EXPECT_EQ(buckets(profile, stage), (Buckets{{Bytes{101 + 103}, 1}}));
}

}  // namespace
}  // namespace pipedream::cost
