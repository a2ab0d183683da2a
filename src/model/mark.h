// Moments in the work of a device: on CPU times of the clock, on accelerators events in a stream.
#pragma once

#include <chrono>
#include <optional>

#include <c10/core/Device.h>
#include <c10/core/Event.h>

#include "core/units.h"

namespace pipedream::model {

// The moment at which a device has done all work that was queued on the calling thread's current
// stream before the mark was made. Making a mark does not wait. On CPU the moment is at once.
class Mark {
 public:
  explicit Mark(at::Device device);

  [[nodiscard]] bool has_come() const;  // whether the device has reached the mark
  void wait() const;                    // until the device has reached the mark
  // Work that the calling thread queues on its current stream of the mark's device from now on does
  // not begin before the mark is reached.
  void hold_back() const;
  // The time from `earlier` to this mark. Waits until this mark is reached. Requires that `earlier`
  // was made earlier, on the same device.
  [[nodiscard]] Nanos since(const Mark& earlier) const;

 private:
  std::chrono::steady_clock::time_point time_;  // used on CPU
  std::optional<c10::Event> event_;             // used on other devices
};

// The time between two marks of one device.
struct Interval {
  Mark start;
  Mark end;
  // Waits until the device has reached `end`.
  [[nodiscard]] Nanos length() const { return end.since(start); }
};

}  // namespace pipedream::model
