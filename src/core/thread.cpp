#include "core/thread.h"

#include <cstdint>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pipedream {
namespace {

// The argument of sched_setattr(), for which the C library has no declaration.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = 0;  // SCHED_OTHER
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t slice = 0;  // in ns; field `sched_runtime` of the kernel
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

constexpr std::uint64_t kShortTurn = 300'000;  // ns; Linux takes 0.1 ms to 100 ms

}  // namespace

void name_thread(const char* name) { (void)::pthread_setname_np(::pthread_self(), name); }

void take_short_turns() {
  SchedulingAttributes attributes;
  // Reads the policy and the nice value, which stay as they are.
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  if (attributes.policy != 0) return;
  attributes.slice = kShortTurn;
  (void)::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace pipedream
