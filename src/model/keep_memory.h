// Memory that a program frees, and will need again.
#pragma once

namespace pipedream::model {

// Called first thing in main, by programs that train or profile: lets libtorch keep the memory that
// it frees. Its allocator on Arm (mimalloc) hands it back to the system after some milliseconds,
// and a training frees and takes the same all the time: up to an eighth of its time went into new
// pages. That allocator reads its settings before main, so the process begins again, with them;
// then, or where somebody has set MIMALLOC_PURGE_DELAY, this does nothing.
void keep_memory(char** arguments);

}  // namespace pipedream::model
