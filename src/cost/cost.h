// The only cost rules: what a stage computes and what a transfer takes.
#pragma once

#include <vector>

#include "cluster/cluster.h"
#include "core/units.h"
#include "profile/profile.h"

namespace pipedream::cost {

struct StageTime {
  Nanos forward{0};
  Nanos backward{0};
};

// One minibatch through these layers on a device of speed 1: the sum of their measured times.
[[nodiscard]] StageTime stage_time(const profile::Profile& profile,
                                   const std::vector<LayerId>& layers);

// `bytes` from one worker to another when nothing else uses the links: the latency and bandwidth
// of the innermost level that joins them.
[[nodiscard]] Nanos transfer_time(const cluster::Cluster& cluster, WorkerId from, WorkerId to,
                                  Bytes bytes);

}  // namespace pipedream::cost
