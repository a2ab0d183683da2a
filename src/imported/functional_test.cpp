#include "imported/functional.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "imported/imported_testing.h"

namespace pipedream::imported {
namespace {

using pt2::Size;
using pt2::TensorId;

std::vector<std::string> ops_of(const pt2::Program& program) {
  std::vector<std::string> ops;
  for (const pt2::Call& call : program.calls) ops.push_back(call.op);
  return ops;
}

TEST(MakeSafe, ReplacesWritesWhereNoOtherNameIsUsedLater) {
  ProgramMaker make;
  const TensorId x = make.input("x");
  const TensorId y = make.call("sin", {{"self", x}});
  (void)make.call("relu_", {{"self", y}});
  const TensorId z = make.call("cos", {{"self", y}});  // reads what was written
  const SafeProgram safe = make_safe(make.build(z), make.different(), "net");
  EXPECT_EQ(ops_of(safe.program),
            (std::vector<std::string>{"aten::sin", "aten::relu", "aten::cos"}));
  EXPECT_EQ(std::get<TensorId>(safe.program.calls[2].arguments[0].value),
            std::get<TensorId>(safe.program.calls[1].results[0]));
  EXPECT_TRUE(safe.together.empty());
}

// torch.export leaves out p = 0.5, the default of bernoulli_. The operator that replaces it has
// none.
TEST(MakeSafe, GivesTheReplacementTheDefaultsOfTheOriginal) {
  ProgramMaker make;
  const TensorId x = make.input("x");
  const TensorId y = make.call("sin", {{"self", x}});
  const TensorId drawn = make.call("bernoulli_", {{"self", y}}, "float");
  const SafeProgram safe = make_safe(make.build(drawn), make.different(), "net");
  const pt2::Call& call = safe.program.calls.at(1);
  EXPECT_EQ(call.op + "." + call.overload, "aten::bernoulli.p");
  ASSERT_EQ(call.arguments.size(), 2U);
  EXPECT_EQ(call.arguments[1].name, "p");
  EXPECT_EQ(std::get<double>(call.arguments[1].value), 0.5);
}

TEST(MakeSafe, KeepsCallsTogetherIfAViewIsWritten) {
  ProgramMaker make;
  const TensorId x = make.input("x");
  const TensorId y = make.call("sin", {{"self", x}});
  const TensorId part =
      make.call("select", {{"self", y}, {"dim", Size(1)}, {"index", Size(0)}}, "int");
  (void)make.call("relu_", {{"self", part}});
  const TensorId z = make.call("cos", {{"self", y}});
  const TensorId last = make.call("exp", {{"self", z}});
  const SafeProgram safe = make_safe(make.build(last), make.different(), "net");
  EXPECT_EQ(safe.program.calls[2].op, "aten::relu_") << "the whole tensor must see the change";
  ASSERT_EQ(safe.together.size(), 1U);
  EXPECT_EQ(safe.together[0].first, 0U);
  EXPECT_EQ(safe.together[0].last, 3U);
}

TEST(MakeSafe, CopiesInputsThatAreWritten) {
  ProgramMaker make;
  const TensorId x = make.input("x");
  const TensorId part =
      make.call("select", {{"self", x}, {"dim", Size(1)}, {"index", Size(0)}}, "int");
  (void)make.call("relu_", {{"self", part}});
  const TensorId z = make.call("cos", {{"self", x}});
  const SafeProgram safe = make_safe(make.build(z), make.different(), "net");
  EXPECT_EQ(safe.program.calls.front().op, "aten::clone");
  for (std::size_t c = 1; c < safe.program.calls.size(); ++c)
    for (const pt2::NamedArgument& each : safe.program.calls[c].arguments)
      if (const auto* tensor = std::get_if<TensorId>(&each.value)) {
        EXPECT_NE(*tensor, x);
      }
}

TEST(MakeSafe, TurnsACopyAtTheEndIntoANewBuffer) {
  ProgramMaker make;
  const TensorId x = make.input("x");
  const TensorId mean = make.buffer("mean");
  const TensorId next = make.call("add", {{"self", mean}, {"other", x}}, "Tensor");
  const TensorId y = make.call("sin", {{"self", x}});
  const TensorId z = make.call("cos", {{"self", y}});
  (void)make.call("copy_", {{"self", mean}, {"src", next}});
  const SafeProgram safe = make_safe(make.build(z), make.different(), "net");
  ASSERT_EQ(safe.program.new_buffers.size(), 1U);
  EXPECT_EQ(safe.program.new_buffers[0].buffer, "mean");
  EXPECT_EQ(safe.uses[mean.index()], BufferUse::kState);
  ASSERT_EQ(safe.together.size(), 1U);
  EXPECT_EQ(safe.together[0].last, 0U) << "calls after the new content need not be with it";
}

TEST(MakeSafe, LeavesACopyWhereItIsIfWhatIsCopiedChangesLater) {
  ProgramMaker make;
  const TensorId x = make.input("x");
  const TensorId mean = make.buffer("mean");
  const TensorId next = make.call("sin", {{"self", x}});
  (void)make.call("copy_", {{"self", mean}, {"src", next}});
  (void)make.call("add_", {{"self", next}, {"other", x}}, "Tensor");
  const TensorId z = make.call("cos", {{"self", next}});
  const SafeProgram safe = make_safe(make.build(z), make.different(), "net");
  EXPECT_TRUE(safe.program.new_buffers.empty());
  EXPECT_EQ(safe.program.calls[1].op, "aten::copy_");
}

TEST(MakeSafe, TellsBuffersThatAreReadFromThoseThatOnlyChange) {
  ProgramMaker make;
  const TensorId x = make.input("x");
  const TensorId count = make.buffer("count");
  const TensorId scale = make.buffer("scale");
  const TensorId table = make.buffer("table");
  (void)make.call("add_", {{"self", count}, {"other", Size(1)}}, "Tensor");
  (void)make.call("mul_", {{"self", scale}, {"other", x}}, "Tensor");
  const TensorId y = make.call("mul", {{"self", x}, {"other", scale}}, "Tensor");
  const TensorId z = make.call("mul", {{"self", y}, {"other", table}}, "Tensor");
  const SafeProgram safe = make_safe(make.build(z), make.different(), "net");
  EXPECT_EQ(safe.uses[count.index()], BufferUse::kChanged);
  EXPECT_EQ(safe.uses[scale.index()], BufferUse::kState);
  EXPECT_EQ(safe.uses[table.index()], BufferUse::kUnchanged);
}

TEST(MakeSafe, RefusesWritesIntoParameters) {
  ProgramMaker make;
  const TensorId w = make.parameter("w");
  const TensorId z = make.call("relu_", {{"self", w}});
  EXPECT_THROW((void)make_safe(make.build(z), make.different(), "net"), CannotMeet);
}

TEST(MakeSafe, LeavesOutWhatNobodyUses) {
  ProgramMaker make;
  const TensorId x = make.input("x");
  (void)make.call("sin", {{"self", x}});
  const TensorId z = make.call("cos", {{"self", x}});
  (void)make.call("_assert_async", {{"self", z}});
  EXPECT_EQ(ops_of(make_safe(make.build(z), make.different(), "net").program),
            std::vector<std::string>{"aten::cos"});
}

}  // namespace
}  // namespace pipedream::imported
