#include "schedule/one_f_one_b.h"

#include <gtest/gtest.h>

#include "schedule/schedule_testing.h"

namespace pipedream::schedule {
namespace {

std::vector<Program> made(int stages, std::int64_t minibatches) {
  return one_f_one_b(straight_pipeline(stages).plan, minibatches);
}

// As in the header: forwards and backwards without their versions.
std::vector<std::string> pictures(const std::vector<Program>& programs) {
  std::vector<std::string> pictures;
  for (const Program& program : programs) {
    std::string picture;
    for (const Op& op : program.ops) {
      if (std::holds_alternative<Update>(op)) continue;
      const std::string text = to_text(op);
      picture += (picture.empty() ? "" : " ") + text.substr(0, text.find('@'));
    }
    pictures.push_back(picture);
  }
  return pictures;
}

TEST(OneFOneB, ThreeStagesLookAsInTheHeader) {
  EXPECT_EQ(pictures(made(3, 5)),
            (std::vector<std::string>{"F0 F1 F2 B0 F3 B1 F4 B2 B3 B4",  //
                                      "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4",  //
                                      "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4"}));
}

TEST(OneFOneB, EachBackwardIsFollowedByItsUpdateAndUsesTheVersionOfItsForward) {
  EXPECT_EQ(
      texts_of(made(3, 5), true),
      (std::vector<std::string>{
          "0:F0@0 0:F1@0 0:F2@0 0:B0@0 0:U0>1 0:F3@1 0:B1@0 0:U1>2 0:F4@2 0:B2@0 0:U2>3 "
          "0:B3@1 0:U3>4 0:B4@2 0:U4>5",
          "1:F0@0 1:F1@0 1:B0@0 1:U0>1 1:F2@1 1:B1@0 1:U1>2 1:F3@2 1:B2@1 1:U2>3 1:F4@3 "
          "1:B3@2 1:U3>4 1:B4@3 1:U4>5",
          "2:F0@0 2:B0@0 2:U0>1 2:F1@1 2:B1@1 2:U1>2 2:F2@2 2:B2@2 2:U2>3 2:F3@3 2:B3@3 2:U3>4 "
          "2:F4@4 2:B4@4 2:U4>5"}));
}

TEST(OneFOneB, EachUpdateAppliesTheMinibatchOfItsBackward) {
  for (const Program& program : made(3, 5)) {
    std::int64_t next = 0;
    for (const Op& op : program.ops) {
      const auto* update = std::get_if<Update>(&op);
      if (update == nullptr) continue;
      EXPECT_EQ(std::pair(update->first, update->last), std::pair(next, next));
      ++next;
    }
    EXPECT_EQ(next, 5);
  }
}

TEST(OneFOneB, OneStageTrainsOneMinibatchAfterTheOther) {
  EXPECT_EQ(texts_of(made(1, 3)),
            std::vector<std::string>{"F0@0 B0@0 U0>1 F1@1 B1@1 U1>2 F2@2 B2@2 U2>3"});
}

TEST(OneFOneB, FewerMinibatchesThanStagesNeverFillThePipeline) {
  EXPECT_EQ(
      texts_of(made(4, 2)),
      (std::vector<std::string>{"F0@0 F1@0 B0@0 U0>1 B1@0 U1>2", "F0@0 F1@0 B0@0 U0>1 B1@0 U1>2",
                                "F0@0 F1@0 B0@0 U0>1 B1@0 U1>2", "F0@0 B0@0 U0>1 F1@1 B1@1 U1>2"}));
}

TEST(OneFOneB, NoMinibatchesGiveEmptyPrograms) {
  EXPECT_EQ(texts_of(made(2, 0)), (std::vector<std::string>{"", ""}));
}

TEST(OneFOneB, ProgramsGoToTheWorkersOfThePlan) {
  plan::Plan plan = straight_pipeline(2).plan;
  plan.stages[0].workers = {WorkerId{5}};
  plan.stages[1].workers = {WorkerId{3}};
  const auto programs = one_f_one_b(plan, 1);
  ASSERT_EQ(programs.size(), 2U);
  EXPECT_EQ(programs[0].worker, WorkerId{5});
  EXPECT_EQ(programs[1].worker, WorkerId{3});
}

TEST(OneFOneBDeathTest, ReplicasAndSharedWorkersAreNotForIt) {
  plan::Plan replicas = straight_pipeline(2).plan;
  replicas.stages[0].workers = {WorkerId{0}, WorkerId{2}};
  EXPECT_DEATH((void)one_f_one_b(replicas, 1), "stage.workers.size\\(\\) == 1");
  plan::Plan shared = straight_pipeline(2).plan;
  shared.stages[1].workers = {WorkerId{0}};
  EXPECT_DEATH((void)one_f_one_b(shared, 1), "taken.insert");
}

}  // namespace
}  // namespace pipedream::schedule
