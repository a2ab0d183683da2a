#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/property_testing.h"
#include "data/augment.h"

namespace pipedream::data {
namespace {

using test::any_of_range;

constexpr std::int64_t kLongestSide = 400;

RC_GTEST_PROP(AugmentProperty, CropsStayWithinThePadding, ()) {
  const auto padding = any_of_range<std::int64_t>(1, 50);
  const auto rows = any_of_range<std::int64_t>(1, kLongestSide);
  const auto columns = any_of_range<std::int64_t>(1, kLongestSide);
  const Augmenter augmenter({.padding = padding}, any_of_range<std::uint64_t>(0, 1000));
  const Window window = augmenter
                            .change_of(any_of_range<std::int64_t>(0, 100),
                                       any_of_range<std::int64_t>(0, 1'000'000), rows, columns)
                            .window;
  RC_ASSERT(window.rows == rows && window.columns == columns);
  RC_ASSERT(std::abs(window.top) <= padding && std::abs(window.left) <= padding);
}

RC_GTEST_PROP(AugmentProperty, ResizedCropsStayInThePictureAndHaveTheAreaAndTheRatio, ()) {
  const double smallest = any_of_range(1, 101) / 100.0;
  const auto rows = any_of_range<std::int64_t>(1, kLongestSide);
  const auto columns = any_of_range<std::int64_t>(1, kLongestSide);
  const Augmenter augmenter({.smallest_area = smallest}, any_of_range<std::uint64_t>(0, 1000));
  const Window window = augmenter
                            .change_of(any_of_range<std::int64_t>(0, 100),
                                       any_of_range<std::int64_t>(0, 1'000'000), rows, columns)
                            .window;
  RC_ASSERT(window.rows >= 1 && window.columns >= 1 && window.top >= 0 && window.left >= 0);
  RC_ASSERT(window.top + window.rows <= rows && window.left + window.columns <= columns);
  // Sides are rounded, each by at most half a pixel.
  const auto height = static_cast<double>(window.rows);
  const auto width = static_cast<double>(window.columns);
  RC_ASSERT((width - 0.5) / (height + 0.5) <= 4.0 / 3 + 1e-9);
  RC_ASSERT((width + 0.5) / (height - 0.5) >= 3.0 / 4 - 1e-9);
  const bool is_middle = window.rows == rows || window.columns == columns;
  const double all = static_cast<double>(rows) * static_cast<double>(columns);
  RC_ASSERT(is_middle || (width + 0.5) * (height + 0.5) >= smallest * all - 1e-6);
}

}  // namespace
}  // namespace pipedream::data
