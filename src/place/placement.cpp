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

// Of all workers; empty if there is none for one of them.
std::vector<Placement> placements(const Topology& topology, int workers, int threads) {
  std::vector<Placement> all;
  for (int worker = 0; worker < workers; ++worker) {
    auto found = placement(topology, worker, workers, threads);
    if (!found) return {};
    all.push_back(std::move(*found));
  }
  return all;
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

ChosenCores choose_cores(int workers, int threads) {
  ChosenCores chosen{.by_worker = {}, .left_out = busy_units(kWatched), .claims = nullptr};
  const Topology idle = without(usable(), chosen.left_out);
  const auto claims = std::make_shared<CoreClaims>(units_of(idle));
  chosen.left_out.insert(chosen.left_out.end(), claims->of_others().begin(),
                         claims->of_others().end());
  chosen.by_worker = placements(without(idle, claims->of_others()), workers, threads);
  Units used;
  for (const Placement& place : chosen.by_worker)
    used.insert(used.end(), place.compute.begin(), place.compute.end());
  claims->keep_only(used);
  chosen.claims = claims;
  return chosen;
}

}  // namespace pipedream::place
