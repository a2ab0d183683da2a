#include "place/placement.h"

#include <algorithm>
#include <set>

#include "core/check.h"
#include "core/even_part.h"

namespace pipedream::place {
namespace {

// The same machine with every hardware thread as a core of its own. The first hardware threads of
// all cores come first, so that cores are shared as late as possible.
Topology with_units_apart(const Topology& topology) {
  Topology apart;
  std::size_t most = 0;
  for (const Core& core : topology.cores) most = std::max(most, core.units.size());
  for (std::size_t i = 0; i < most; ++i)
    for (const Core& core : topology.cores)
      if (i < core.units.size()) apart.cores.push_back({{core.units[i]}, core.node});
  return apart;
}

}  // namespace

std::optional<Placement> placement(const Topology& topology, int worker, int workers, int threads) {
  PD_CHECK(worker >= 0 && worker < workers && threads >= 1);
  const auto wanted =
      std::size_t{1} * static_cast<std::size_t>(workers) * static_cast<std::size_t>(threads);
  const Topology shared = topology.cores.size() >= wanted ? topology : with_units_apart(topology);
  if (shared.cores.size() < wanted) return std::nullopt;
  const Range mine = even_part(static_cast<std::int64_t>(shared.cores.size()), worker, workers);
  Topology own;
  std::set<int> nodes;
  for (std::int64_t i = mine.first; i < mine.first + threads; ++i) {
    own.cores.push_back(shared.cores[static_cast<std::size_t>(i)]);
    nodes.insert(own.cores.back().node);
  }
  Topology near = topology;
  std::erase_if(near.cores, [&](const Core& core) { return !nodes.contains(core.node); });
  return Placement{units_of(own), units_of(near)};
}

std::unique_ptr<const Bound> bound_to(const Placement& placement) {
  if (placement.compute.empty()) return nullptr;
  return std::make_unique<const Bound>(placement.compute, placement.others);
}

std::vector<Placement> place_threads(int workers, int threads) {
  const Topology free = without(usable(), busy_units(kWatched));
  std::vector<Placement> placements;
  for (int worker = 0; worker < workers; ++worker) {
    auto found = placement(free, worker, workers, threads);
    if (!found) return {};
    placements.push_back(std::move(*found));
  }
  return placements;
}

}  // namespace pipedream::place
