// The cores of this machine that the process may use (docs/runtime.md: Cores).
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/thread.h"

namespace pipedream::place {

struct Core {
  Units units;   // its hardware threads: one, or two and more with hyper-threading
  int node = 0;  // the part of the machine's memory that is nearest to it (NUMA node)
  friend bool operator==(const Core&, const Core&) = default;
};

// Neighbours in the list share more of the machine than distant ones: caches and memory.
struct Topology {
  std::vector<Core> cores;
  friend bool operator==(const Topology&, const Topology&) = default;
};

// Returns the cores that the calling thread may run on. A binding by taskset, mpirun or Slurm, and
// a limit of a container, leave out the others. Without hwloc every hardware thread counts as a
// core.
[[nodiscard]] Topology usable();

// The same without what hwloc knows.
[[nodiscard]] Topology every_unit_a_core(const Units& units);

// Returns the topology of a made-up machine in hwloc's language, such as "node:2 core:4 pu:2". For
// tests. Empty if the build is without hwloc.
[[nodiscard]] Topology made_up(const std::string& description);

// All hardware threads of `topology`.
[[nodiscard]] Units units_of(const Topology& topology);

// Returns `topology` without the cores that have a hardware thread in `taken`.
[[nodiscard]] Topology without(Topology topology, const Units& taken);

// How long to watch which cores are busy.
inline constexpr std::chrono::milliseconds kWatched{100};

// Watches the machine for `time`, and returns the hardware threads that were busy for more than
// half of it, whoever used them. Empty if the system does not tell.
[[nodiscard]] Units busy_units(std::chrono::milliseconds time);

}  // namespace pipedream::place
