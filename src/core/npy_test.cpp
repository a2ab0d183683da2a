#include "core/npy.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"

namespace pipedream {
namespace {

std::string npy(const std::string& dictionary, const std::string& data) {
  const auto length = static_cast<char>(dictionary.size());
  return std::string("\x93NUMPY\x01") + '\0' + length + '\0' + dictionary + data;
}

const std::string kHead = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";

TEST(Npy, TypeShapeAndPlaceOfTheDataAreRead) {
  const NpyHead head = parse_npy_head(npy(kHead, std::string(24, 'x')), "a.npy");
  EXPECT_EQ(head.type, "F32");
  EXPECT_EQ(head.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(head.size, 10 + kHead.size());
  const std::string one = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_EQ(parse_npy_head(npy(one, std::string(16, 'x')), "a.npy").shape,
            std::vector<std::int64_t>{2});
  const std::string none = "{'descr': '|b1', 'fortran_order': False, 'shape': (), }";
  EXPECT_TRUE(parse_npy_head(npy(none, "x"), "a.npy").shape.empty());
}

TEST(Npy, WhatIsNoArrayIsRefused) {
  const std::string good = npy(kHead, std::string(24, 'x'));
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_THROW((void)parse_npy_head(good.substr(0, length), "a.npy"), BadFile) << length;
  EXPECT_THROW((void)parse_npy_head(good + "x", "a.npy"), BadFile);
  for (const std::string head :
       {"{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3), }", "{'other': '<f4'}",
        "{", "{'descr': '<f4"})
    EXPECT_THROW((void)parse_npy_head(npy(head, std::string(24, 'x')), "a.npy"), BadFile) << head;
  const std::string huge =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }";
  EXPECT_THROW((void)parse_npy_head(npy(huge, ""), "a.npy"), BadFile);
}

}  // namespace
}  // namespace pipedream
