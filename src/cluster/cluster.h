// The machines a model is trained on: workers, the levels of links that join them, and memory.
#pragma once

#include <string>
#include <vector>

#include "core/ids.h"
#include "core/units.h"

namespace pipedream::cluster {

// One level of the network: it joins `count` components of the level below (workers, at the first)
// into one. Each component reaches the others of its group at `bandwidth` in each direction.
struct Level {
  std::string name;  // "server"
  int count = 1;
  Bandwidth bandwidth;
  Nanos latency{0};
  // True: the bandwidth belongs to the component, and all workers inside share it (a server's
  // network card). False: each worker has that much for itself (NVLink).
  bool shared = false;
  friend bool operator==(const Level&, const Level&) = default;
};

struct Device {
  Bytes memory;
  double speed = 1;  // relative to the device the profile was measured on
  friend bool operator==(const Device&, const Device&) = default;
};

// Workers are numbered with the innermost level counting fastest: on 4 servers × 4, workers 0–3 are
// the first server. Invariant: devices has as many entries as the product of the levels' counts.
struct Cluster {
  std::string name;
  std::vector<Level> levels;    // from the inside out
  std::vector<Device> devices;  // one per worker

  [[nodiscard]] int workers() const { return static_cast<int>(devices.size()); }
  // How many workers one component of levels[level] holds; level 0 has components of one worker.
  [[nodiscard]] int workers_per_component(std::size_t level) const;
  // The innermost level that joins two different workers.
  [[nodiscard]] std::size_t level_between(WorkerId a, WorkerId b) const;

  friend bool operator==(const Cluster&, const Cluster&) = default;
};

// The host of each worker, by any numbers: on clusters of two levels, the components of the outer
// one. Empty where all count as one: with one level nothing is said of hosts, and with three a ring
// of two would not do.
[[nodiscard]] std::vector<int> hosts(const Cluster& cluster);

// More workers than this are refused, as a slip of the pen rather than a wish.
inline constexpr int kMostWorkers = 1'000'000;

}  // namespace pipedream::cluster
