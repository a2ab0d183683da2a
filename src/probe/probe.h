// Measures a cluster with all its workers, and infers the cluster file (docs/cluster.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "probe/infer.h"
#include "probe/measured.h"
#include "transport/transport.h"

namespace pipedream::probe {

// What one worker measures with. All workers have the same `hosts`, `names` and `time`.
struct Setting {
  Hosts hosts;
  std::vector<std::string> names;  // of the hosts
  Nanos time{0};                   // about how long each of the three rounds of a figure takes
  Bytes memory;                    // of this worker's device
  std::function<void()> work;      // the same work on every worker's device, done when it returns
  bool threads = false;            // the workers are threads of this process
  std::function<void(double share, const std::string& what)> progress;
};

// The worker's endpoints of two channels that nobody else uses meanwhile.
struct Channels {
  transport::Transport& values;
  transport::Transport& control;
};

struct Probed {
  Measured measured;
  std::vector<Averaged> averaged;
  cluster::Cluster cluster;
};

// Measures together with all other workers, which call it at the same time, each for itself. All
// get the same result. Throws WorkerLost if a worker does not take part for too long, and Aborted
// as Transport::wait() does.
[[nodiscard]] Probed probe(const Setting& setting, const Channels& channels);

}  // namespace pipedream::probe
