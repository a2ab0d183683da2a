#include <algorithm>
#include <set>

#include <rapidcheck/gtest.h>

#include "place/placement.h"

namespace pipedream::place {
namespace {

Topology any_topology() {
  Topology topology;
  int unit = 0;
  const int count = *rc::gen::inRange(1, 40);
  const int units_per_core = *rc::gen::inRange(1, 4);
  const int per_node = *rc::gen::inRange(1, 20);
  for (int i = 0; i < count; ++i) {
    topology.cores.push_back({{}, i / per_node});
    for (int u = 0; u < units_per_core; ++u) topology.cores.back().units.push_back(unit++);
  }
  return topology;
}

RC_GTEST_PROP(PlacementProperty, NoTwoWorkersComputeOnTheSameHardwareThread, ()) {
  const Topology topology = any_topology();
  const int workers = *rc::gen::inRange(1, 50);
  const int threads = *rc::gen::inRange(1, 5);
  const std::size_t all = units_of(topology).size();
  std::set<int> taken;
  for (int worker = 0; worker < workers; ++worker) {
    const auto found = placement(topology, worker, workers, threads);
    RC_ASSERT(found.has_value() == (all >= static_cast<std::size_t>(workers * threads)));
    if (!found) return;
    RC_ASSERT(found->compute.size() >= static_cast<std::size_t>(threads));
    for (const int unit : found->compute) {
      RC_ASSERT(taken.insert(unit).second);
      RC_ASSERT(std::binary_search(found->others.begin(), found->others.end(), unit));
    }
  }
}

}  // namespace
}  // namespace pipedream::place
