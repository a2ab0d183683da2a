#include "schedule/schedule.h"

#include <gtest/gtest.h>

#include "schedule/schedule_testing.h"

namespace pipedream::schedule {
namespace {

using Texts = std::vector<std::string>;

TEST(Schedule, ProgramsAreThePiecesOfTheirGeneratorsInOrder) {
  const Generator loads{WorkerId{3}, 3, [](std::int64_t piece, std::vector<Op>& ops) {
                          ops.push_back(Load{StageId{0}, {piece, 0}});
                          if (piece == 1) ops.push_back(Load{StageId{0}, {piece, 1}});
                        }};
  EXPECT_EQ(program_of(loads).worker, WorkerId{3});
  EXPECT_EQ(to_text(program_of(loads)), "L0 L1 L1.1 L2");
  const Generator nothing{WorkerId{4}, 0, loads.append};
  EXPECT_EQ(texts_of(programs_of({{loads, nothing}, {}})), (Texts{"L0 L1 L1.1 L2", ""}));
}

TEST(Schedule, WrittenProgramsComeBackAsTheyWere) {
  const std::vector<Program> programs{{WorkerId{1}, {Load{StageId{0}, {0, 0}}}}, {WorkerId{0}, {}}};
  EXPECT_EQ(programs_of(schedule_of(programs)), programs);
}

TEST(Extent, TheLastMinibatchMayHaveFewerMicrobatches) {
  const Extent extent{3, 4, 2};
  EXPECT_EQ(extent.microbatches_of(0), 4);
  EXPECT_EQ(extent.microbatches_of(1), 4);
  EXPECT_EQ(extent.microbatches_of(2), 2);
}

TEST(Extent, WholeMinibatchesAreCutAsThePlanSays) {
  plan::Plan plan;
  plan.microbatches = 4;
  const Extent extent = whole_minibatches(plan, 3);
  EXPECT_EQ(extent.minibatches, 3);
  EXPECT_EQ(extent.microbatches_of(0), 4);
  EXPECT_EQ(extent.microbatches_of(2), 4);
}

TEST(Backward, RunsTheForwardAgainFirstWhereTheStageRecomputes) {
  std::vector<Op> ops;
  append_backward(false, StageId{0}, {2, 1}, {1}, ops);
  append_backward(true, StageId{0}, {2, 1}, {1}, ops);
  EXPECT_EQ(to_text(Program{WorkerId{0}, ops}), "B2.1@1 C2.1@1 B2.1@1");
}

}  // namespace
}  // namespace pipedream::schedule
