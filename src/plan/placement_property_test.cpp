#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "plan/placement.h"
#include "plan/plan_testing.h"

namespace pipedream::plan {
namespace {

using test::any_of_range;

RC_GTEST_PROP(PlacesProperty, GiveEachWorkerOnceWhateverThePolicies, ()) {
  const cost::Network network(any_cluster({.workers = 24}));
  Places places(network);
  std::vector<bool> given(static_cast<std::size_t>(network.workers()));
  for (int left = network.workers(); left > 0;) {
    const int count = any_of_range(1, left + 1);
    const auto workers = places.take(count, static_cast<Placement>(any_of_range(0, 4)));
    RC_ASSERT(static_cast<int>(workers.size()) == count);
    RC_ASSERT(std::is_sorted(workers.begin(), workers.end()));
    for (const WorkerId worker : workers) {
      RC_ASSERT(worker.index() < given.size());
      RC_ASSERT(!given[worker.index()]);
      given[worker.index()] = true;
    }
    left -= count;
  }
}

// No machine of a scattered stage has two more of its workers than another that had free ones.
RC_GTEST_PROP(PlacesProperty, ScatterAFirstStageEvenly, ()) {
  const cost::Network network(any_cluster({.workers = 24}));
  RC_PRE(network.levels() > 1);
  const int machines = network.workers() / network.inside(1);
  std::vector<int> taken(static_cast<std::size_t>(machines));
  Places places(network);
  for (const WorkerId worker :
       places.take(any_of_range(1, network.workers() + 1), Placement::kScatterFirst))
    ++taken[static_cast<std::size_t>(network.component(1, worker.value))];
  const auto [least, most] = std::minmax_element(taken.begin(), taken.end());
  RC_ASSERT(*most - *least <= 1);
}

}  // namespace
}  // namespace pipedream::plan
