#include "cluster/cluster.h"

#include "core/check.h"

namespace pipedream::cluster {

int Cluster::workers_per_component(std::size_t level) const {
  int product = 1;
  for (std::size_t k = 0; k < level; ++k) product *= levels.at(k).count;
  return product;
}

std::size_t Cluster::level_between(WorkerId a, WorkerId b) const {
  PD_CHECK(a != b);
  PD_CHECK(a.value >= 0 && a.value < workers() && b.value >= 0 && b.value < workers());
  int group = 1;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    group *= levels[k].count;
    if (a.value / group == b.value / group) return k;
  }
  PD_CHECK(false && "the outermost level joins all workers");
  return 0;
}

std::vector<int> hosts(const Cluster& cluster) {
  if (cluster.levels.size() != 2) return {};
  std::vector<int> host_of;
  for (int worker = 0; worker < cluster.workers(); ++worker)
    host_of.push_back(worker / cluster.levels.front().count);
  return host_of;
}

}  // namespace pipedream::cluster
