// What hwloc knows of the machine.
#include <algorithm>
#include <memory>

#include <hwloc.h>

#include "place/topology.h"

namespace pipedream::place {
namespace {

using Machine = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

// Loads this machine's topology or, if it is not null, that of `description`; null if that fails.
Machine load(const char* description) {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return {nullptr, &hwloc_topology_destroy};
  Machine machine(made, &hwloc_topology_destroy);
  if (description != nullptr && hwloc_topology_set_synthetic(made, description) != 0)
    machine.reset();
  if (machine && hwloc_topology_load(made) != 0) machine.reset();
  return machine;
}

// The cores of `machine`, each with those of its hardware threads that `may_use` accepts.
template <class MayUse>
Topology cores_of(const Machine& machine, MayUse may_use) {
  Topology topology;
  if (!machine) return topology;
  hwloc_obj_t core = nullptr;
  while ((core = hwloc_get_next_obj_by_type(machine.get(), HWLOC_OBJ_CORE, core)) != nullptr) {
    Core found{.units = {}, .node = std::max(0, hwloc_bitmap_first(core->nodeset))};
    for (int unit = hwloc_bitmap_first(core->cpuset); unit >= 0;
         unit = hwloc_bitmap_next(core->cpuset, unit))
      if (may_use(unit)) found.units.push_back(unit);
    if (!found.units.empty()) topology.cores.push_back(std::move(found));
  }
  return topology;
}

}  // namespace

Topology usable() {
  const Units mine = own_units();
  Topology topology = cores_of(
      load(nullptr), [&](int unit) { return std::binary_search(mine.begin(), mine.end(), unit); });
  // hwloc may not see the machine as it is, for example if the environment gives it another one.
  if (units_of(topology) != mine) topology = every_unit_a_core(mine);
  return topology;
}

Topology made_up(const std::string& description) {
  return cores_of(load(description.c_str()), [](int) { return true; });
}

}  // namespace pipedream::place
