// What the messages on a worker's control and news channels are about.
#pragma once

#include <chrono>

#include "transport/transport.h"

namespace pipedream::runtime {

enum ControlTag : int { kNorms, kResults, kTensors, kLosses, kClock, kPace, kNccl };

// The longest wait for another worker before there is a job.
inline constexpr auto kPatienceAtStart = std::chrono::seconds(60);

// The next message about that from another worker. Throws WorkerLost after `patience`.
[[nodiscard]] inline transport::Message next_message(transport::Transport& channel, WorkerId from,
                                                     ControlTag about,
                                                     std::chrono::milliseconds patience) {
  return channel.wait(channel.receive(from, about), std::chrono::steady_clock::now() + patience);
}

}  // namespace pipedream::runtime
