// The machines that a model is trained on: workers with their memory and speed, and the levels of
// links that join them (docs/formats.md#cluster).
#pragma once

#include <string>
#include <vector>

#include "core/ids.h"
#include "core/units.h"

namespace pipedream::cluster {

// One level of the network. It joins `count` components of the level below into one component; the
// components that the first level joins are the workers. Each component reaches the others of its
// group at `bandwidth` in each direction.
struct Level {
  std::string name;  // for people, such as "server"
  int count = 1;
  Bandwidth bandwidth;
  Nanos latency{0};  // delay of one message
  // If true, all workers inside a component share `bandwidth`, as they share a server's network
  // card. If false, each worker has `bandwidth` for itself, as with NVLink.
  bool shared = false;
  friend bool operator==(const Level&, const Level&) = default;
};

// What one worker computes on.
struct Device {
  Bytes memory;
  double speed = 1;  // relative to the device that the profile was measured on
  friend bool operator==(const Device&, const Device&) = default;
};

// Workers are numbered from 0 with the innermost level counting fastest: of 4 servers with 4
// workers each, workers 0–3 are the first server. Invariant: the size of `devices` is the product
// of `count` over all levels.
struct Cluster {
  std::string name;
  std::vector<Level> levels;    // innermost level first
  std::vector<Device> devices;  // one per worker

  [[nodiscard]] int workers() const { return static_cast<int>(devices.size()); }
  // Returns the number of workers in one of the components that `levels[level]` joins: 1 for level
  // 0, and all workers for levels.size().
  [[nodiscard]] int workers_per_component(std::size_t level) const;
  // Returns the index of the innermost level that joins `a` and `b`. Requires two different
  // workers.
  [[nodiscard]] std::size_t level_between(WorkerId a, WorkerId b) const;

  friend bool operator==(const Cluster&, const Cluster&) = default;
};

// Returns a number for each worker that identifies its host, as core/hosts.h takes it. On a cluster
// of two levels, the hosts are the components that the outer level joins. Otherwise the result is
// empty, which means that all workers count as one host: a single level says nothing about hosts,
// and for three levels or more a ring of two levels does not fit.
[[nodiscard]] std::vector<int> hosts(const Cluster& cluster);

// The most workers of a cluster. More are taken for a typing error and refused.
inline constexpr int kMostWorkers = 1'000'000;

}  // namespace pipedream::cluster
