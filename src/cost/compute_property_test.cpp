#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/property_testing.h"
#include "cost/compute.h"

namespace pipedream::cost {
namespace {

using test::any_of_range;

constexpr int kFine = 1'000'000;
constexpr double kBelowRounding = 1 - 1e-12;

// The time of a minibatch, and its fixed part: none, some, or all of it.
struct AnyTimes {
  Seconds whole = Nanos(any_of_range<std::int64_t>(0, 1'000'000'000'000));
  Seconds fixed = whole * (any_of_range(0, 5) / 4.0);
};

double any_share() { return any_of_range(1, kFine + 1) / static_cast<double>(kFine); }

RC_GTEST_PROP(TimeOfPartProperty, OfAllSamplesIsTheWhole, ()) {
  const AnyTimes any;
  RC_ASSERT(time_of_part(any.whole, any.fixed, 1) == any.whole);
  RC_ASSERT(time_in_parts(any.whole, any.fixed, 1) == any.whole);
}

RC_GTEST_PROP(TimeOfPartProperty, GrowsWithItsShare, ()) {
  const AnyTimes any;
  const double less = any_share();
  const double more = less * (1 + any_share());
  RC_ASSERT(time_of_part(any.whole, any.fixed, less) * kBelowRounding <=
            time_of_part(any.whole, any.fixed, more));
}

RC_GTEST_PROP(TimeOfPartProperty, IsAtLeastWhatIsFixedAndItsShare, ()) {
  const AnyTimes any;
  const double share = any_share();
  const Seconds part = time_of_part(any.whole, any.fixed, share);
  RC_ASSERT(part >= any.fixed * kBelowRounding);
  RC_ASSERT(part >= any.whole * share * kBelowRounding);
  RC_ASSERT(part * kBelowRounding <= any.whole);
}

RC_GTEST_PROP(TimeOfPartProperty, OfAllPartsAddsUpToTheTimeInParts, ()) {
  const AnyTimes any;
  const int parts = any_of_range(1, 1000);
  const double sum = parts * time_of_part(any.whole, any.fixed, 1.0 / parts).count();
  const double wanted = (any.whole + (parts - 1) * any.fixed).count();
  RC_ASSERT(std::abs(sum - wanted) <= 1e-12 * wanted);
}

}  // namespace
}  // namespace pipedream::cost
