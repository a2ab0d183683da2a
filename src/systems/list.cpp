#include "systems/list.h"

namespace pipedream::systems {

const std::vector<System>& all_systems() {
  static const std::vector<System> systems{
      pipedream(), dapple(),         torchgpipe(),  gpipe(),  two_buffered(),
      dp_bsp(),    model_parallel(), interleaved(), dp_asp(),
  };
  return systems;
}

}  // namespace pipedream::systems
