// Memory that a program frees, and will need again.
#pragma once

namespace pipedream::model {

// Called first thing in main, by programs that train or profile: lets the allocator that libtorch
// uses keep the memory that it frees. A training frees and takes the same all the time, and where
// that is handed back to the system meanwhile, new pages take time (docs/measurements.md).
//
// On Arm that allocator is mimalloc, which reads its settings before main: the process begins
// again, with them. Elsewhere it is the C library's, which is told to keep its heaps. Does nothing
// where somebody has set MIMALLOC_PURGE_DELAY, or glibc.malloc in GLIBC_TUNABLES.
void keep_memory(char** arguments);

}  // namespace pipedream::model
