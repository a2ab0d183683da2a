// What the messages on a worker's control and news channels are about.
#pragma once

#include <chrono>

#include "transport/transport.h"

namespace pipedream::runtime {

enum ControlTag : int { kNorms, kResults, kTensors, kLosses, kClock, kPace };

// The next message about that from another worker. Throws WorkerLost after `patience`.
[[nodiscard]] inline transport::Message next_message(transport::Transport& channel, WorkerId from,
                                                     ControlTag about,
                                                     std::chrono::milliseconds patience) {
  return channel.wait(channel.receive(from, about), std::chrono::steady_clock::now() + patience);
}

}  // namespace pipedream::runtime
