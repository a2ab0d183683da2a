#include "imported/bounds.h"

#include <gtest/gtest.h>

#include "imported/imported_testing.h"

namespace pipedream::imported {
namespace {

using pt2::Size;
using pt2::TensorId;

constexpr std::int64_t kBatch = 8;
constexpr std::int64_t kNothing = 1;  // nothing is known

// Looks words up in tables whose numbers of rows are `rows`: the whole input, or its columns.
std::int64_t bound(const std::vector<std::int64_t>& rows, bool whole) {
  ProgramMaker make;
  const TensorId words = make.input("words");
  std::vector<TensorId> tables;
  for (std::size_t i = 0; i < rows.size(); ++i)
    tables.push_back(make.parameter("table" + std::to_string(i)));
  TensorId last = words;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const TensorId part = whole ? make.call("clone", {{"self", words}})
                                : make.call("select",
                                            {{"self", words},
                                             {"dim", Size(1)},
                                             {"index", Size(static_cast<std::int64_t>(i))}},
                                            "int");
    last = make.call("embedding", {{"weight", tables[i]}, {"indices", part}});
  }
  pt2::Program program = make.build(last);
  program.tensors[words.index()].type = pt2::Type::kLong;
  for (std::size_t i = 0; i < rows.size(); ++i)
    program.tensors[tables[i].index()].sizes = {rows[i], 4};
  return bound_of(program, program.inputs[0], kBatch);
}

TEST(BoundOf, IsTheSmallestTableThatTheWholeInputIsLookedUpIn) {
  EXPECT_EQ(bound({100}, true), 100);
  EXPECT_EQ(bound({100, 5}, true), 5);
}

TEST(BoundOf, IsThatOfPartsOnlyIfTheyAgree) {
  EXPECT_EQ(bound({100, 100}, false), 100);
  EXPECT_EQ(bound({100, 5}, false), kNothing);
  EXPECT_EQ(bound({}, true), kNothing);
}

}  // namespace
}  // namespace pipedream::imported
