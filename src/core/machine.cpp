#include "core/machine.h"

#include <unistd.h>

namespace pipedream {

Bytes physical_memory() {
  return {static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE)};
}

}  // namespace pipedream
