#include "cost/compute.h"

namespace pipedream::cost {

StageTime stage_time(const profile::Profile& profile, const std::vector<LayerId>& layers) {
  StageTime time;
  for (const LayerId layer : layers) {
    time.forward += profile.cost(layer).forward;
    time.backward += profile.cost(layer).backward;
  }
  return time;
}

}  // namespace pipedream::cost
