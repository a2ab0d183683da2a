// What the operating system is told about a thread: its name, and how its scheduler should treat
// it.
#pragma once

namespace pipedream {

// Names the calling thread, as top, gdb and perf show it. Linux takes at most 15 characters.
void name_thread(const char* name);

// Asks for the calling thread to run soon after it wakes up, also on a core where another thread
// computes. For threads that work little and often, such as those that move messages. By default
// Linux lets the thread that computes go on for up to 3 ms. Has no effect before Linux 6.12. The
// share of the core that each thread gets does not change.
void take_short_turns();

}  // namespace pipedream
