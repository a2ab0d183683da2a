// What the machine that runs us has.
#pragma once

#include "core/units.h"

namespace pipedream {

// 64-bit Arm, for which builds of libtorch choose other libraries.
#if defined(__aarch64__)
inline constexpr bool kIsArm64 = true;
#else
inline constexpr bool kIsArm64 = false;
#endif

[[nodiscard]] Bytes physical_memory();
[[nodiscard]] int cores();  // at least 1
// For how long the calling thread has been running, as opposed to waiting.
[[nodiscard]] Nanos processor_time();

}  // namespace pipedream
