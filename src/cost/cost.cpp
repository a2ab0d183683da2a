#include "cost/cost.h"

namespace pipedream::cost {

StageTime stage_time(const profile::Profile& profile, const std::vector<LayerId>& layers) {
  StageTime time;
  for (const LayerId layer : layers) {
    time.forward += profile.cost(layer).forward;
    time.backward += profile.cost(layer).backward;
  }
  return time;
}

Nanos transfer_time(const cluster::Cluster& cluster, WorkerId from, WorkerId to, Bytes bytes) {
  const cluster::Level& level = cluster.levels[cluster.level_between(from, to)];
  return level.latency +
         from_seconds(static_cast<double>(bytes.count) / level.bandwidth.bytes_per_second);
}

}  // namespace pipedream::cost
