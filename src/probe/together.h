// Lets all workers take the same steps at the same time, and know each other's results.
#pragma once

#include <cstdint>
#include <vector>

#include "transport/transport.h"

namespace pipedream::probe {

using Numbers = std::vector<std::int64_t>;

// Returns when a wait that begins now has lasted too long: a worker is then taken for lost.
[[nodiscard]] transport::Deadline patience();

// Returns what each worker said, by worker. All workers call it at the same place; nobody returns
// before all have called, so it is a barrier too. Throws WorkerLost if a worker does not come, and
// Aborted as Transport::wait() does.
[[nodiscard]] std::vector<Numbers> tell_all(transport::Transport& channel, const Numbers& mine);

}  // namespace pipedream::probe
