#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "plan/placement.h"
#include "plan/plan_testing.h"

namespace pipedream::plan {
namespace {

using test::any_of_range;

RC_GTEST_PROP(PlacesProperty, GiveEachWorkerOnceWhateverThePolicies, ()) {
  const cost::Links links(any_cluster({.workers = 24}));
  Places places(links);
  std::vector<bool> given(static_cast<std::size_t>(links.workers()));
  for (int left = links.workers(); left > 0;) {
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

// If a first stage is scattered, the numbers of its workers on any two machines differ by at most
// one.
RC_GTEST_PROP(PlacesProperty, ScatterAFirstStageEvenly, ()) {
  const cost::Links links(any_cluster({.workers = 24}));
  RC_PRE(links.levels() > 1);
  const int machines = links.workers() / links.inside(1);
  std::vector<int> taken(static_cast<std::size_t>(machines));
  Places places(links);
  for (const WorkerId worker :
       places.take(any_of_range(1, links.workers() + 1), Placement::kScatterFirst))
    ++taken[static_cast<std::size_t>(links.component(1, worker.value))];
  const auto [least, most] = std::minmax_element(taken.begin(), taken.end());
  RC_ASSERT(*most - *least <= 1);
}

}  // namespace
}  // namespace pipedream::plan
