#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/error.h"
#include "core/property_testing.h"
#include "data/idx_testing.h"

namespace pipedream::data {
namespace {

using test::any_of_range;

IdxArray any_array() {
  IdxArray array;
  std::int64_t count = 1;
  for (int dimensions = any_of_range(1, 4); dimensions > 0; --dimensions) {
    array.shape.push_back(any_of_range(0, 6));
    count *= array.shape.back();
  }
  for (; count > 0; --count) array.bytes += static_cast<char>(any_of_range(0, 256));
  return array;
}

RC_GTEST_PROP(IdxFormatProperty, WhatIsWrittenReadsBack, ()) {
  const IdxArray array = any_array();
  RC_ASSERT(parse_idx(idx_file(array), "f") == array);
}

RC_GTEST_PROP(IdxFormatProperty, NoFileReadsWhenCutShort, ()) {
  const std::string file = idx_file(any_array());
  const auto length = any_of_range<std::size_t>(0, file.size());
  RC_ASSERT_THROWS_AS((void)parse_idx(file.substr(0, length), "f"), BadFile);
}

}  // namespace
}  // namespace pipedream::data
