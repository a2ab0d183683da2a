#include "cost/cost_model.h"

#include <gtest/gtest.h>

namespace pipedream::cost {
namespace {

TEST(CostModel, NamesAreInTheOrderOfTheEnumerators) {
  EXPECT_EQ(cost_model_names(), (std::vector<std::string>{"default", "paper", "published"}));
  EXPECT_EQ(cost_model_names()[static_cast<std::size_t>(CostModel::kPublished)], "published");
}

// The tests have three components, 6 bytes of weights and 2 bytes per second.
constexpr double kWeights = 6;
Recurrence rule(CostModel cost_model, int inner_count = 1) {
  return {.cost_model = cost_model, .bandwidth = 2, .inner_count = inner_count};
}

TEST(Recurrence, OfTheDefaultOverlapsComputeWithARing) {
  // The ring takes 2·2/3·6 / 2 = 4 seconds.
  EXPECT_DOUBLE_EQ(rule(CostModel::kDefault).stage(1, kWeights, 3, false), 4.0 / 3);
  EXPECT_DOUBLE_EQ(rule(CostModel::kDefault).stage(5, kWeights, 3, false), 5.0 / 3);
}

TEST(Recurrence, OfThePaperOverlapsComputeWithAllTheWeightsOfTheOthers) {
  // The weights take 2·2·6 / 2 = 12 seconds.
  EXPECT_DOUBLE_EQ(rule(CostModel::kPaper).stage(1, kWeights, 3, false), 12.0 / 3);
  EXPECT_DOUBLE_EQ(rule(CostModel::kPaper).stage(15, kWeights, 3, false), 15.0 / 3);
}

TEST(Recurrence, AsPublishedAddsTwoRingsToTheCompute) {
  // Two rings take 4·2/3·6 / 2 = 8 seconds.
  EXPECT_DOUBLE_EQ(rule(CostModel::kPublished).stage(1, kWeights, 3, false), (1 + 8) / 3.0);
  EXPECT_DOUBLE_EQ(rule(CostModel::kPublished).stage(5, kWeights, 3, true), (5 + 8) / 3.0);
}

TEST(Recurrence, AsPublishedDividesTheRingsOfAFirstStageByTheCountInside) {
  EXPECT_DOUBLE_EQ(rule(CostModel::kPublished, 4).stage(1, kWeights, 3, true), (1 + 2) / 3.0);
  EXPECT_DOUBLE_EQ(rule(CostModel::kPublished, 4).stage(1, kWeights, 3, false), (1 + 8) / 3.0);
  for (const CostModel other : {CostModel::kDefault, CostModel::kPaper})
    EXPECT_EQ(rule(other, 4).stage(1, kWeights, 3, true), rule(other).stage(1, kWeights, 3, false));
}

TEST(Recurrence, OfOneComponentIsTheComputeInside) {
  for (const CostModel cost_model : {CostModel::kDefault, CostModel::kPaper, CostModel::kPublished})
    EXPECT_EQ(rule(cost_model, 4).stage(5, kWeights, 1, true), 5);
}

TEST(Recurrence, ChargesACutOnceOrTwiceOrSharedByTheReplicas) {
  EXPECT_DOUBLE_EQ(rule(CostModel::kDefault).cut_before(12, 3), 6);
  EXPECT_DOUBLE_EQ(rule(CostModel::kPaper).cut_before(12, 3), 12);
  EXPECT_DOUBLE_EQ(rule(CostModel::kPublished).cut_before(12, 3), 4);
}

TEST(Recurrence, OnlyAsPublishedChargesTheCutAfterAStage) {
  EXPECT_EQ(rule(CostModel::kDefault).cut_after(12, 3), 0);
  EXPECT_EQ(rule(CostModel::kPaper).cut_after(12, 3), 0);
  EXPECT_DOUBLE_EQ(rule(CostModel::kPublished).cut_after(12, 3), 4);
}

// VGG-16 on 4 workers at 1 GB/s, a row of the published optimiser's table.
TEST(Recurrence, AsPublishedGivesTheTableOfTheProfilesForDataParallelTraining) {
  const Recurrence flat{.cost_model = CostModel::kPublished, .bandwidth = 1e9};
  constexpr double kVgg16Weights = 4 * 138'357'544.0;
  constexpr double kVgg16Seconds = 0.672535;  // forward and backward of all layers
  EXPECT_NEAR(flat.stage(kVgg16Seconds, kVgg16Weights, 4, true), 0.583206382, 5e-10);
}

}  // namespace
}  // namespace pipedream::cost
