#include "model/out_of_memory.h"

#include <gtest/gtest.h>

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

namespace pipedream::model {
namespace {

TEST(OutOfMemory, IsToldFromOtherFailures) {
  try {
    (void)at::empty({std::int64_t{1} << 60}, at::kByte);
    FAIL() << "an exbibyte";
  } catch (const c10::Error& error) {
    EXPECT_TRUE(is_out_of_memory(error)) << error.what_without_backtrace();
  }
  try {
    (void)at::zeros({2}).add(at::zeros({3}));
    FAIL() << "unequal shapes";
  } catch (const c10::Error& error) {
    EXPECT_FALSE(is_out_of_memory(error)) << error.what_without_backtrace();
  }
}

}  // namespace
}  // namespace pipedream::model
