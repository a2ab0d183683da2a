// Times on a device: the clock on CPU, events in the stream on accelerators.
#pragma once

#include <chrono>
#include <optional>

#include <c10/core/Device.h>
#include <c10/core/Event.h>

#include "core/units.h"

namespace pipedream::profiler {

// A moment in a device's work: when all that was given to it so far is done. Marking does not wait.
class Mark {
 public:
  explicit Mark(at::Device device);

 private:
  friend struct Interval;
  std::chrono::steady_clock::time_point time_;  // CPU
  std::optional<c10::Event> event_;             // others
};

// From one mark to a later one.
struct Interval {
  Mark start;
  Mark end;
  // Waits for the end, if it has not come yet.
  [[nodiscard]] Nanos length();
};

}  // namespace pipedream::profiler
