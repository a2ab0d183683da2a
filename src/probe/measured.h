// What is measured of a cluster, as plain numbers (docs/cluster.md). infer.h makes the cluster of
// it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/units.h"

namespace pipedream::probe {

// Bytes per second in each direction, of all pairs of workers together that send at the same time.
struct Rates {
  Bandwidth one_way;    // while only one direction is used
  Bandwidth both_ways;  // in the slower direction, while both directions are used at once
};

// Messages between workers of the same host.
struct InsideHosts {
  Nanos latency{0};
  Rates slowest_pair;  // while the other pairs of all hosts are as busy
};

// Messages between two hosts. `a` and `b` are the hosts' numbers.
struct BetweenHosts {
  int a = 0;
  int b = 0;
  Nanos latency{0};
  Rates one_pair;   // one worker of each host
  Rates all_pairs;  // all workers of both hosts. Equals `one_pair` if hosts have one worker.
};

struct OfWorker {
  Bytes memory;
  double speed = 1;     // work per second, in any unit that is the same for all workers
  double unsteady = 0;  // by what share the middle round was slower than the fastest
};

struct Measured {
  std::vector<std::string> hosts;     // their names
  int workers_each = 1;               // workers on each host
  std::optional<InsideHosts> inside;  // not set if hosts have one worker
  std::vector<BetweenHosts> between;  // every host is in one of them at least; empty for one host
  std::vector<OfWorker> workers;      // those of the first host first
};

// One ring all-reduce over a group of workers.
struct Averaged {
  bool inside_hosts = false;  // of the workers of each host; false: of all workers
  int workers = 0;            // in the group
  Bytes bytes;                // of values
  Nanos took{0};
  Nanos predicted{0};  // by the cost model, with the inferred cluster
};

}  // namespace pipedream::probe
