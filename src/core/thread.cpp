#include "core/thread.h"

#include <cstdint>
#include <utility>

#include <pthread.h>
#include <sched.h>
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

// What the helpers of this thread are bound to; empty if they are bound like this thread. An
// attribute of the thread, as its own binding is.
thread_local Units helpers_units;

void bind_to(const Units& units) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int unit : units)
    if (unit >= 0 && unit < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(unit), &set);
  (void)::sched_setaffinity(0, sizeof(set), &set);
}

}  // namespace

Units own_units() {
  Units units;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return units;
  for (int unit = 0; unit < CPU_SETSIZE; ++unit)
    if (CPU_ISSET(static_cast<std::size_t>(unit), &set)) units.push_back(unit);
  return units;
}

Bound::Bound(const Units& units, Units helpers)
    : units_before_(own_units()),
      helpers_before_(std::exchange(helpers_units, std::move(helpers))) {
  bind_to(units);
}

Bound::~Bound() {
  bind_to(units_before_);
  helpers_units = std::move(helpers_before_);
}

std::thread start_helper(const char* name, std::function<void()> run) {
  return std::thread([name, units = helpers_units, run = std::move(run)] {
    name_thread(name);
    if (!units.empty()) bind_to(units);
    take_short_turns();
    run();
  });
}

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
