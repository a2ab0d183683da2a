// Properties of the machine that runs this program.
#pragma once

#include <filesystem>

#include "core/units.h"

namespace pipedream {

// Whether this is a 64-bit Arm processor. Builds of libtorch for it use other libraries than on
// x86.
#if defined(__aarch64__)
inline constexpr bool kIsArm64 = true;
#else
inline constexpr bool kIsArm64 = false;
#endif

[[nodiscard]] Bytes physical_memory();
// Returns the memory that this process can still use: what the machine has free or can free at
// once, or less if a control group (a container, a Slurm job) has a limit.
[[nodiscard]] Bytes available_memory();
// The same, read from the files under `root` instead of "/". For tests.
[[nodiscard]] Bytes available_memory(const std::filesystem::path& root);
[[nodiscard]] int cores();  // at least 1
// Returns the CPU time of the calling thread: the time it has been running, without waiting.
[[nodiscard]] Nanos processor_time();

}  // namespace pipedream
