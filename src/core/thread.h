// What the operating system is told about threads: their names, the cores that they may run on, and
// how its scheduler should treat them (docs/runtime.md: Cores). Linux only; elsewhere, and where
// the system refuses, the functions have no effect.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace pipedream {

// Hardware threads, by the numbers that Linux gives to CPUs, in ascending order.
using Units = std::vector<int>;

// The hardware threads that the calling thread may run on.
[[nodiscard]] Units own_units();

// Binds the calling thread to `units` as long as the object lives, and the helpers that it starts
// meanwhile to `helpers`. Made and destroyed by the same thread.
class Bound {
 public:
  Bound(const Units& units, Units helpers);
  ~Bound();
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

 private:
  Units units_before_;
  Units helpers_before_;
};

// Starts a thread that helps the calling one: it moves messages, sums gradients or writes files,
// and works little and often. `name` is what top, gdb and perf show; Linux takes at most 15
// characters. The thread may run on the cores that Bound names for helpers, and takes short turns.
[[nodiscard]] std::thread start_helper(const char* name, std::function<void()> run);

void name_thread(const char* name);

// Asks for the calling thread to run soon after it wakes up, also on a core where another thread
// computes. By default Linux lets the thread that computes go on for up to 3 ms. Has no effect
// before Linux 6.12. The share of the core that each thread gets does not change.
void take_short_turns();

}  // namespace pipedream
