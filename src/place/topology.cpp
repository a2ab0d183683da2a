#include "place/topology.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace pipedream::place {
namespace {

// What one hardware thread has done since the system started, in ticks of the system's clock.
struct Spent {
  std::int64_t busy = 0;
  std::int64_t idle = 0;
};

// By hardware thread. A line of /proc/stat such as "cpu7 1 2 3 4 5 …" has the ticks for users, for
// users at low priority, in the system, idle, waiting for input and output, and for other work.
std::map<int, Spent> spent() {
  constexpr int kIdle = 3, kWaiting = 4, kFields = 8;
  std::map<int, Spent> all;
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("cpu") || line.size() < 4 || line[3] == ' ') continue;
    std::istringstream words(line.substr(3));
    int unit = 0;
    words >> unit;
    std::int64_t ticks = 0;
    for (int field = 0; field < kFields && words >> ticks; ++field)
      (field == kIdle || field == kWaiting ? all[unit].idle : all[unit].busy) += ticks;
  }
  return all;
}

}  // namespace

Topology every_unit_a_core(const Units& units) {
  Topology topology;
  for (const int unit : units) topology.cores.push_back({{unit}, 0});
  return topology;
}

Units units_of(const Topology& topology) {
  Units units;
  for (const Core& core : topology.cores)
    units.insert(units.end(), core.units.begin(), core.units.end());
  std::sort(units.begin(), units.end());
  return units;
}

Topology without(Topology topology, const Units& taken) {
  std::erase_if(topology.cores, [&](const Core& core) {
    return std::any_of(core.units.begin(), core.units.end(), [&](int unit) {
      return std::find(taken.begin(), taken.end(), unit) != taken.end();
    });
  });
  return topology;
}

Units busy_units(std::chrono::milliseconds time) {
  const std::map<int, Spent> before = spent();
  std::this_thread::sleep_for(time);
  Units busy;
  for (const auto& [unit, after] : spent()) {
    const auto found = before.find(unit);
    if (found == before.end()) continue;
    if (after.busy - found->second.busy > after.idle - found->second.idle) busy.push_back(unit);
  }
  return busy;
}

}  // namespace pipedream::place
