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

}  // namespace pipedream::cluster
