// What the machine that runs us has.
#pragma once

#include "core/units.h"

namespace pipedream {

[[nodiscard]] Bytes physical_memory();
[[nodiscard]] int cores();  // at least 1
// For how long the calling thread has been running, as opposed to waiting.
[[nodiscard]] Nanos processor_time();

}  // namespace pipedream
