#include "cost/memory.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "cost/system_rules_testing.h"

namespace pipedream::cost {
namespace {

const StageSize kSize{Bytes{100}, Bytes{1000}, Bytes{12}, Bytes{7}};
const PeakCounts kCounts{.versions = 3, .gradients = 2, .in_flight = 4};

// Returns { weights, gradients, optimiser, activations, buffers, working }.
std::vector<std::int64_t> parts(const MemoryUse& use) {
  return {use.weights.count,     use.gradients.count, use.optimiser.count,
          use.activations.count, use.buffers.count,   use.working.count};
}
using Parts = std::vector<std::int64_t>;

TEST(StageMemory, KeepsForEachItemInFlightWhatWasReceivedAndWhatIsHeld) {
  const MemoryUse use = stage_memory(kSize, kCounts, {});
  EXPECT_EQ(parts(use), (Parts{300, 200, 100, 4048, 24, 7}));  // 4·(12 + 1000), 2·12
  EXPECT_EQ(use.total(), Bytes{300 + 200 + 100 + 4048 + 24 + 7});
}

TEST(StageMemory, UnderRecomputeKeepsWhatWasReceivedAndOneWholeItem) {
  const MemoryUse use = stage_memory(kSize, kCounts, {.recompute = true});
  EXPECT_EQ(parts(use), (Parts{300, 200, 100, 1048, 24, 7}));  // 4·12 + 1000
  EXPECT_EQ(use.total(), Bytes{300 + 200 + 100 + 1048 + 24 + 7});
}

TEST(StageMemory, HasAsManyCopiesOfTheWeightsAsTheOptimiserKeeps) {
  EXPECT_EQ(stage_memory(kSize, kCounts, {.optimiser_copies = 0}).optimiser, Bytes{0});
  EXPECT_EQ(stage_memory(kSize, kCounts, {.optimiser_copies = 1}).optimiser, Bytes{100});
  EXPECT_EQ(stage_memory(kSize, kCounts, {.optimiser_copies = 2}).optimiser, Bytes{200});
}

TEST(StageMemory, OfAShareOfTheMinibatchDividesAllButTheWeights) {
  EXPECT_EQ(parts(stage_memory(kSize, kCounts, {.share = 0.5})),
            (Parts{300, 200, 100, 2024, 12, 4}));  // 2·(12 + 1000), 3.5 rounded up
  EXPECT_EQ(parts(stage_memory(kSize, kCounts, {.share = 0.5, .recompute = true})),
            (Parts{300, 200, 100, 524, 12, 4}));  // 2·12 + 500
}

TEST(StageMemory, OfAllMicrobatchesInFlightIsThatOfTheMinibatch) {
  const PeakCounts counts = peak_counts(kGpipe.traits, 1, 1, 8);
  const MemoryUse use = stage_memory(kSize, counts, {.share = 1.0 / 8});
  EXPECT_EQ(use.activations, Bytes{1000 + 12});
  EXPECT_EQ(use.weights, Bytes{100});
  const MemoryUse again = stage_memory(kSize, counts, {.share = 1.0 / 8, .recompute = true});
  EXPECT_EQ(again.activations, Bytes{12 + 125}) << "one microbatch is whole at a time";
}

TEST(StageMemory, RoundsSharesUp) {
  const MemoryUse use =
      stage_memory({Bytes{1}, Bytes{1}, Bytes{1}, Bytes{1}}, {}, {.share = 1.0 / 3});
  EXPECT_EQ(parts(use), (Parts{1, 1, 1, 1 + 1, 1, 1}));
}

TEST(RestingMemory, KeepsItemsAndGradientsAndNothingThatRuns) {
  EXPECT_EQ(parts(resting_memory(kSize, kCounts, {})), (Parts{300, 200, 100, 4048, 0, 0}));
  EXPECT_EQ(parts(resting_memory(kSize, kCounts, {.share = 0.5, .recompute = true})),
            (Parts{300, 200, 100, 24, 0, 0}));  // 2·12: no item holds its activations
  EXPECT_EQ(parts(resting_memory(kSize, {.gradients = 0, .in_flight = 0}, {.optimiser_copies = 2})),
            (Parts{100, 0, 200, 0, 0, 0}));
}

// Returns a stage of these layers. A layer is { weights, held, working, forward_working }.
StageSize stage_of(const std::vector<LayerSize>& layers) {
  StageSize size{.received = Bytes{12}, .working = Bytes{1'000'000}, .layers = layers};
  for (const LayerSize& layer : layers) {
    size.weights += layer.weights;
    size.held += layer.held;
  }
  return size;
}
const LayerSize kLightButWide{Bytes{1}, Bytes{500}, {Bytes{700}}};
const LayerSize kHeavyButNarrow{Bytes{900}, Bytes{100}, {Bytes{5}}};

TEST(StageMemory, OfKnownLayersDoesNotHoldWhatLaterLayersKeptWhenTheFirstRunsBackward) {
  const StageSize size = stage_of({kLightButWide, kLightButWide, kLightButWide});
  // The peak is in the last layer's backward, when nothing is free yet: activations are 2 · (12 +
  // 1500).
  EXPECT_EQ(parts(stage_memory(size, {.in_flight = 2}, {})), (Parts{3, 1, 3, 3024, 24, 700}));
  // If the first layer works with more than twice as much, the peak is in its backward, when the
  // activations of the other two layers are free.
  StageSize wide_first = size;
  wide_first.layers[0].working.all = Bytes{1800};
  EXPECT_EQ(parts(stage_memory(wide_first, {.in_flight = 2}, {})),
            (Parts{3, 3, 3, 3024 - 1000, 24, 1800}));
}

TEST(StageMemory, OfKnownLayersHasOnlyTheGradientsOfLayersThatRanBackward) {
  const StageSize size = stage_of({kHeavyButNarrow, kLightButWide});
  EXPECT_EQ(parts(stage_memory(size, {}, {})), (Parts{901, 1, 901, 12 + 600, 24, 700}))
      << "the wide layer's backward comes first";
  EXPECT_EQ(parts(stage_memory(stage_of({kLightButWide, kHeavyButNarrow}), {}, {})),
            (Parts{901, 901, 901, 12 + 500, 24, 700}));
}

TEST(StageMemory, OfItemsThatAccumulateHasAllGradientsAndOneLayersNewOnes) {
  EXPECT_EQ(parts(stage_memory(stage_of({kHeavyButNarrow, kLightButWide}),
                               {.in_flight = 1, .accumulating = 1}, {})),
            (Parts{901, 901 + 1, 901, 12 + 600, 24, 700}));
  EXPECT_EQ(parts(stage_memory(stage_of({kLightButWide, kHeavyButNarrow}),
                               {.in_flight = 1, .accumulating = 1}, {})),
            (Parts{901, 901 + 900, 901, 12 + 600, 24, 5}));
}

TEST(StageMemory, OfItemsThatAccumulateIsThatOfTheFirstBackwardWhereMoreAreInFlightThen) {
  EXPECT_EQ(parts(stage_memory(stage_of({kLightButWide, kLightButWide}),
                               {.in_flight = 4, .accumulating = 3}, {})),
            (Parts{2, 1, 2, 4 * (12 + 1000), 24, 700}));
}

TEST(StageMemory, OfKnownLayersScalesWithTheShareButNotItsWeights) {
  const StageSize size = stage_of({kLightButWide, kHeavyButNarrow});
  EXPECT_EQ(parts(stage_memory(size, {.in_flight = 2, .accumulating = 2}, {.share = 0.5})),
            (Parts{901, 901 + 900, 901, 12 + 600, 12, 3}));
  EXPECT_EQ(parts(stage_memory(size, {.in_flight = 2}, {.share = 0.5, .recompute = true})),
            (Parts{901, 901, 901, 12 + 250, 12, 350}));
}

TEST(StageMemory, OfKnownLayersHasWhatIsFixedForEveryItem) {
  StageSize size = stage_of({kLightButWide});
  size.layers[0].working.fixed = Bytes{300};
  EXPECT_EQ(parts(stage_memory(size, {}, {})), (Parts{1, 1, 1, 512, 24, 700}));
  EXPECT_EQ(parts(stage_memory(size, {}, {.share = 0.25})),
            (Parts{1, 1, 1, 3 + 125, 6, 300 + 100}));
}

TEST(StageMemory, OfKnownLayersIsThatOfAForwardWhereOneAllocatesMost) {
  StageSize size = stage_of({kLightButWide, kHeavyButNarrow, kLightButWide});
  size.layers[1].forward_working = {Bytes{9000}, Bytes{1000}};
  // The peak is in the second layer's forward. Activations are 2 · (12 + 1100), but the item that
  // runs only holds those of the first layer. There are no gradients yet.
  EXPECT_EQ(parts(stage_memory(size, {.in_flight = 2}, {})),
            (Parts{902, 0, 902, 2224 - 600, 24, 9000}));
  EXPECT_EQ(parts(stage_memory(size, {.gradients = 2, .in_flight = 2}, {})),
            (Parts{902, 902, 902, 2224 - 600, 24, 9000}));
  EXPECT_EQ(parts(stage_memory(size, {.in_flight = 2}, {.share = 0.5})),
            (Parts{902, 0, 902, 1112 - 300, 12, 1000 + 4000}));
  // With the gradients of an earlier item, and with buckets that stay allocated.
  EXPECT_EQ(parts(stage_memory(size, {.in_flight = 2, .accumulating = 2}, {})),
            (Parts{902, 902, 902, 2224 - 600, 24, 9000}));
  EXPECT_EQ(parts(stage_memory(size, {.buckets = true}, {})),
            (Parts{902, 902, 902, 1112 - 600, 24, 9000}));
}

TEST(StageMemory, OfKnownLayersIsNeverMoreThanAllAtOnce) {
  const StageSize size = stage_of({kLightButWide, kHeavyButNarrow, kLightButWide});
  StageSize unknown = size;
  unknown.layers.clear();
  unknown.working = Bytes{700};
  EXPECT_LT(stage_memory(size, kCounts, {}).total(), stage_memory(unknown, kCounts, {}).total());
}

// The buckets are always as large as all gradients, and the gradients of the layer that runs exist
// twice.
TEST(StageMemory, OfReplicasHasAllBucketsAllTheTimeAndOneLayersGradientsBesides) {
  const StageSize heavy_first = stage_of({kHeavyButNarrow, kLightButWide});
  EXPECT_EQ(parts(stage_memory(heavy_first, {.buckets = true}, {})),
            (Parts{901, 901 + 1, 901, 12 + 600, 24, 700}));
  const StageSize heavy_last = stage_of({kLightButWide, kHeavyButNarrow});
  EXPECT_EQ(parts(stage_memory(heavy_last, {.buckets = true}, {})),
            (Parts{901, 901 + 900, 901, 12 + 600, 24, 5}));
  EXPECT_EQ(parts(stage_memory(heavy_last, {.gradients = 2, .buckets = true}, {})),
            (Parts{901, 2 * 901 + 900, 901, 12 + 600, 24, 5}));
  EXPECT_EQ(parts(stage_memory(stage_of({kLightButWide, kLightButWide}),
                               {.in_flight = 4, .accumulating = 3, .buckets = true}, {})),
            (Parts{2, 2 + 1, 2, 4 * (12 + 1000), 24, 700}))
      << "items add to the buckets, not to other gradients";
}

// A server also has a copy of its share for each worker; these copies together are as large as the
// weights.
TEST(StageMemory, OfAServerIsItsShareOfTheWeightsAndOfTheOptimisersState) {
  const MemoryUse use = stage_memory(kSize, {.buckets = true, .servers = 4}, {});
  EXPECT_EQ(parts(use), (Parts{100 + 25 + 100, 100, 25, 1012, 24, 7}));
  EXPECT_EQ(stage_memory(kSize, {.buckets = true, .servers = 4}, {.optimiser_copies = 2}).optimiser,
            Bytes{50});
  EXPECT_EQ(stage_memory(kSize, {.buckets = true, .servers = 1}, {}).weights, Bytes{300})
      << "a single worker serves itself";
}

TEST(StageMemory, OfNothingIsNothing) {
  EXPECT_EQ(stage_memory({}, kCounts, {.optimiser_copies = 2}).total(), Bytes{0});
}

TEST(StageMemory, DoesNotOverflowOnHugeStages) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 52;
  const MemoryUse use = stage_memory({Bytes{kHuge}, Bytes{kHuge}, {}, {}}, kCounts, {});
  EXPECT_EQ(use.weights, Bytes{3 * kHuge});
  EXPECT_EQ(use.activations, Bytes{4 * kHuge});
}

}  // namespace
}  // namespace pipedream::cost
