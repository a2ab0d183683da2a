#include "core/machine.h"

#include <algorithm>
#include <thread>

#include <unistd.h>

namespace pipedream {

Bytes physical_memory() {
  return {static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE)};
}

int cores() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

}  // namespace pipedream
