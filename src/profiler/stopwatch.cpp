#include "profiler/stopwatch.h"

#include <cmath>

#include <c10/core/impl/VirtualGuardImpl.h>

namespace pipedream::profiler {

Mark::Mark(at::Device device) {
  if (device.is_cpu()) {
    time_ = std::chrono::steady_clock::now();
    return;
  }
  // BACKEND_DEFAULT is the flag that leaves timing on.
  event_.emplace(device.type(), c10::EventFlag::BACKEND_DEFAULT);
  event_->record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
}

Nanos Interval::length() {
  if (!end.event_) return std::chrono::duration_cast<Nanos>(end.time_ - start.time_);
  end.event_->synchronize();
  return Nanos(std::llround(start.event_->elapsedTime(*end.event_) * 1e6));  // from milliseconds
}

}  // namespace pipedream::profiler
