#include "schedule/ops.h"

#include <gtest/gtest.h>

namespace pipedream::schedule {
namespace {

constexpr StageId kStage{2};
constexpr Item kWhole{3, 0};
constexpr Item kSlice{3, 1};

TEST(OpText, NamesMinibatchAndVersionOfAForward) {
  EXPECT_EQ(to_text(Forward{kStage, kWhole, WeightVersion{1}}), "F3@1");
}

TEST(OpText, HasALetterForEachPartOfABackward) {
  EXPECT_EQ(to_text(Backward{kStage, kWhole, WeightVersion{1}}), "B3@1");
  EXPECT_EQ(to_text(Backward{kStage, kWhole, WeightVersion{1}, BackwardPart::kInput}), "b3@1");
  EXPECT_EQ(to_text(Backward{kStage, kWhole, WeightVersion{1}, BackwardPart::kWeight}), "w3@1");
}

TEST(OpText, NamesBothVersionsOfAnUpdate) {
  EXPECT_EQ(to_text(Update{kStage, WeightVersion{3}, WeightVersion{4}, 3, 3}), "U3>4");
}

TEST(OpText, NamesTheItemOfALoad) { EXPECT_EQ(to_text(Load{kStage, kWhole}), "L3"); }

TEST(OpText, NamesValueItemAndPeerOfATransfer) {
  const ValueId value{5};
  const WorkerId peer{1};
  EXPECT_EQ(to_text(Send{value, kStage, kWhole, Kind::kActivation, peer}), "SA5#3>1");
  EXPECT_EQ(to_text(Send{value, kStage, kWhole, Kind::kGradient, peer}), "SG5#3>1");
  EXPECT_EQ(to_text(Recv{value, kStage, kWhole, Kind::kActivation, peer}), "RA5#3<1");
  EXPECT_EQ(to_text(Recv{value, kStage, kWhole, Kind::kGradient, peer}), "RG5#3<1");
}

TEST(OpText, HasALetterForEachOpAboutWeights) {
  EXPECT_EQ(to_text(Recompute{kStage, kWhole, WeightVersion{1}}), "C3@1");
  EXPECT_EQ(to_text(Reduce{kStage, WeightVersion{4}}), "X4");
  EXPECT_EQ(to_text(Await{kStage, WeightVersion{4}}), "A4");
  EXPECT_EQ(to_text(Push{kStage, kWhole}), "P3");
  EXPECT_EQ(to_text(Pull{kStage, WeightVersion{4}}), "G4");
}

TEST(OpText, ShowsTheMicrobatchWhereItIsNotTheFirst) {
  EXPECT_EQ(to_text(Load{kStage, kSlice}), "L3.1");
  EXPECT_EQ(to_text(Forward{kStage, kSlice, WeightVersion{1}}), "F3.1@1");
  EXPECT_EQ(to_text(Backward{kStage, kSlice, WeightVersion{1}}), "B3.1@1");
  EXPECT_EQ(to_text(Send{ValueId{5}, kStage, kSlice, Kind::kActivation, WorkerId{1}}), "SA5#3.1>1");
  EXPECT_EQ(to_text(Recv{ValueId{5}, kStage, kSlice, Kind::kGradient, WorkerId{1}}), "RG5#3.1<1");
}

TEST(OpText, ShowsTheStageWhereAskedTo) {
  EXPECT_EQ(to_text(Load{kStage, kSlice}, true), "2:L3.1");
  EXPECT_EQ(to_text(Forward{kStage, kSlice, WeightVersion{1}}, true), "2:F3.1@1");
  EXPECT_EQ(to_text(Backward{kStage, kSlice, WeightVersion{1}}, true), "2:B3.1@1");
  EXPECT_EQ(to_text(Update{kStage, WeightVersion{3}, WeightVersion{4}, 3, 3}, true), "2:U3>4");
  EXPECT_EQ(to_text(Send{ValueId{5}, kStage, kWhole, Kind::kActivation, WorkerId{1}}, true),
            "SA5#3>1")
      << "a transfer is between workers";
}

TEST(ProgramText, HasASpaceBetweenOps) {
  const Program program{WorkerId{0},
                        {Load{kStage, kWhole}, Forward{kStage, kWhole, WeightVersion{0}}}};
  EXPECT_EQ(to_text(program), "L3 F3@0");
  EXPECT_EQ(to_text(program, true), "2:L3 2:F3@0");
  EXPECT_EQ(to_text(Program{}), "");
}

}  // namespace
}  // namespace pipedream::schedule
