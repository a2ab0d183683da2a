// The functions that return the systems. Only list.cpp and the files that define these functions
// include this; all others call all_systems() or find_system().
#pragma once

#include "systems/system.h"

namespace pipedream::systems {

[[nodiscard]] System pipedream();
[[nodiscard]] System dapple();
[[nodiscard]] System torchgpipe();
[[nodiscard]] System gpipe();
[[nodiscard]] System two_buffered();
[[nodiscard]] System dp_bsp();
[[nodiscard]] System model_parallel();
[[nodiscard]] System interleaved();
[[nodiscard]] System dp_asp();

}  // namespace pipedream::systems
