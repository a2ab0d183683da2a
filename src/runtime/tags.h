// The tags of messages on a worker's channels `control` and `news` (worker.h).
#pragma once

#include <chrono>

#include "transport/transport.h"

namespace pipedream::runtime {

enum ControlTag : int {
  kNorms,
  kResults,
  kTensors,
  kLosses,
  kClock,
  kPace,
  kNccl,
  kMeet,
  kFolder,
  kCores,
  kLeftOutCores,
  kSpeeds
};

// The longest wait for another worker at the start of a run, when no Job::patience is known yet.
inline constexpr auto kPatienceAtStart = std::chrono::seconds(60);

// Waits for the next message with the tag `about` from another worker. Throws WorkerLost after
// `patience`.
[[nodiscard]] inline transport::Message next_message(transport::Transport& channel, WorkerId from,
                                                     ControlTag about,
                                                     std::chrono::milliseconds patience) {
  return channel.wait(channel.receive(from, about), std::chrono::steady_clock::now() + patience);
}

}  // namespace pipedream::runtime
