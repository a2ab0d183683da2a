#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "plan/plan_testing.h"
#include "plan/stage_size.h"

namespace pipedream::plan {
namespace {

RC_GTEST_PROP(StageSizeProperty, IsWhatThePlannersSeeBetweenTwoCuts, ()) {
  const profile::Profile profile = any_profile({.layers = 7});
  for (const Cuts& cuts :
       {Cuts(profile), Cuts::of_single_layers(profile), Cuts::in_declared_order(profile)})
    for (std::size_t a = 0; a < cuts.count(); ++a)
      for (std::size_t b = a + 1; b < cuts.count(); ++b)
        if (cuts.precedes(a, b))
          RC_ASSERT(stage_size(profile, cuts.layers(a, b)) == cuts.size(a, b));
}

RC_GTEST_PROP(StageSizeProperty, DoesNotDependOnTheOrderOfTheLayers, ()) {
  const profile::Profile profile = any_profile({.layers = 7});
  const Cuts cuts(profile);
  std::vector<LayerId> layers = cuts.layers(0, cuts.last());
  std::reverse(layers.begin(), layers.end());
  RC_ASSERT(stage_size(profile, layers) == cuts.size(0, cuts.last()));
}

}  // namespace
}  // namespace pipedream::plan
