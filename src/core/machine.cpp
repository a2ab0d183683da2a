#include "core/machine.h"

#include <algorithm>
#include <thread>

#include <time.h>
#include <unistd.h>

#include "core/check.h"

namespace pipedream {

Bytes physical_memory() {
  return {static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE)};
}

int cores() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

Nanos processor_time() {
  timespec time{};
  PD_CHECK(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
  return std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
}

}  // namespace pipedream
