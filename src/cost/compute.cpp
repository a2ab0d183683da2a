#include "cost/compute.h"

#include <algorithm>
#include <cmath>

namespace pipedream::cost {

StageTime stage_time(const profile::Profile& profile, const std::vector<LayerId>& layers,
                     bool replicated, int accumulate) {
  StageTime time;
  for (const LayerId layer : layers) {
    time.forward += profile.cost(layer).forward;
    time.backward += profile.cost(layer).backward_with_update(accumulate);
    if (replicated) time.backward += profile.cost(layer).averaging / accumulate;
    time.fixed_forward += profile.cost(layer).fixed_forward;
    time.fixed_backward += profile.cost(layer).fixed_backward;
  }
  return time;
}

int ItemShare::busy_replicas() const {
  const double samples =
      std::floor(static_cast<double>(batch.value_or(INT32_MAX)) * minibatches / microbatches);
  return static_cast<int>(std::clamp(samples, 1.0, static_cast<double>(replicas)));
}

}  // namespace pipedream::cost
