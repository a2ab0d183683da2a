// A transport between threads of one process. A message's memory is handed over, not copied.
#pragma once

#include <memory>
#include <vector>

#include "transport/transport.h"

namespace pipedream::transport {

// Returns connected endpoints for workers 0 … `count` − 1. Each may be used from its own thread.
[[nodiscard]] std::vector<std::unique_ptr<Transport>> connect_in_process(int count);

}  // namespace pipedream::transport
