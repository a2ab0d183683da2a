// Numbers that were measured → the cluster that explains them. Pure functions, without torch or MPI
// (docs/cluster.md says by which rules).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "probe/measured.h"

namespace pipedream::probe {

// The hosts of a world of workers.
struct Hosts {
  std::vector<int> first;  // by host: its first worker
  int workers_each = 1;
  [[nodiscard]] int count() const { return static_cast<int>(first.size()); }
  [[nodiscard]] int worker(int host, int place) const {
    return first[static_cast<std::size_t>(host)] + place;
  }
};

// Returns the hosts of workers 0, 1, …; `host_of` has a number for each worker that names its host,
// and `names` the host's name. Throws CannotMeet if there are fewer than two workers, or if a
// cluster file cannot describe them: the workers of a host must have consecutive numbers, and all
// hosts the same number of workers.
[[nodiscard]] Hosts hosts_of(std::span<const int> host_of, std::span<const std::string> names);

// Returns the cluster whose links and devices are those that were measured. Bandwidths and
// latencies are rounded to three digits. A level's bandwidth is the lower of what was measured one
// way and both ways. Speeds are relative to worker 0; one within 5 % of it is 1, and so is one that
// differs by no more than the rounds of a worker do.
[[nodiscard]] cluster::Cluster infer(const Measured& measured);

// Returns sentences about what a cluster file cannot say, or what a user should know before relying
// on it: links that differ, links that are slower both ways, averaging unlike its prediction,
// machines that do other things.
[[nodiscard]] std::vector<std::string> remarks(const Measured& measured,
                                               const std::vector<Averaged>& averaged);

}  // namespace pipedream::probe
