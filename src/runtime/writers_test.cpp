#include "runtime/writers.h"

#include <numeric>

#include <gtest/gtest.h>

namespace pipedream::runtime {
namespace {

// Weights alternate with small biases, as in most networks.
TEST(Writers, GetAboutTheSameNumberOfBytes) {
  model::Tensors parameters;
  for (const std::int64_t width : {64, 60, 22, 2}) {
    parameters.push_back(at::empty({width, width}));
    parameters.push_back(at::empty({width}));
  }
  const std::vector<std::size_t> writers = writers_of(parameters, 2);
  ASSERT_EQ(writers.size(), parameters.size());
  std::vector<double> bytes(2);
  for (std::size_t i = 0; i < writers.size(); ++i)
    bytes.at(writers[i]) += static_cast<double>(parameters[i].nbytes());
  EXPECT_NEAR(bytes[0], bytes[1], 0.02 * (bytes[0] + bytes[1]));
  EXPECT_EQ(writers_of(parameters, 1), std::vector<std::size_t>(parameters.size(), 0));
  EXPECT_TRUE(writers_of({}, 3).empty());
}

}  // namespace
}  // namespace pipedream::runtime
