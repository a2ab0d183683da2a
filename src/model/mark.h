// Moments in the work of a device: the clock on CPU, events in a stream on accelerators.
#pragma once

#include <chrono>
#include <optional>

#include <c10/core/Device.h>
#include <c10/core/Event.h>

#include "core/units.h"

namespace pipedream::model {

// When all is done that was given so far to the calling thread's stream of a device. Marking does
// not wait. On CPU that is at once.
class Mark {
 public:
  explicit Mark(at::Device device);

  [[nodiscard]] bool has_come() const;
  void wait() const;
  // What the calling thread gives its stream of that device from now on is not begun before.
  void hold_back() const;
  // Waits until it has come. Requires that the other is earlier, and of the same device.
  [[nodiscard]] Nanos since(const Mark& earlier) const;

 private:
  std::chrono::steady_clock::time_point time_;  // CPU
  std::optional<c10::Event> event_;             // others
};

// From one mark to a later one.
struct Interval {
  Mark start;
  Mark end;
  // Waits for the end, if it has not come yet.
  [[nodiscard]] Nanos length() const { return end.since(start); }
};

}  // namespace pipedream::model
