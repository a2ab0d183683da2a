// Keeps freed memory in the process, because training needs it again (docs/measurements.md).
#pragma once

namespace pipedream::model {

// Lets the allocator that libtorch uses keep the memory that it frees. Programs that train or
// profile call this first thing in main. A training frees and allocates the same sizes all the
// time; if freed memory goes back to the system in between, getting new pages takes time.
//
// On 64-bit Arm the allocator is mimalloc, which reads its settings before main. So the process
// executes itself again with MIMALLOC_PURGE_DELAY set, unless that is set already. Elsewhere large
// tensors come from a pool (core/kept_blocks.h), and the C library is told to keep its heaps,
// unless GLIBC_TUNABLES sets an option of glibc.malloc.
void keep_memory(char** arguments);

}  // namespace pipedream::model
