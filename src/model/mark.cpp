#include "model/mark.h"

#include <cmath>

#include "model/device.h"

namespace pipedream::model {

Mark::Mark(at::Device device) {
  if (device.is_cpu()) {
    time_ = std::chrono::steady_clock::now();
    return;
  }
  // BACKEND_DEFAULT is the flag that enables timing.
  event_.emplace(device.type(), c10::EventFlag::BACKEND_DEFAULT);
  event_->record(current_stream(device));
}

bool Mark::has_come() const { return !event_ || event_->query(); }

void Mark::wait() const {
  if (event_) event_->synchronize();
}

void Mark::hold_back() const {
  if (event_) event_->block(current_stream(event_->device()));
}

Nanos Mark::since(const Mark& earlier) const {
  if (!event_) return std::chrono::duration_cast<Nanos>(time_ - earlier.time_);
  event_->synchronize();
  return Nanos(std::llround(earlier.event_->elapsedTime(*event_) * 1e6));  // from milliseconds
}

}  // namespace pipedream::model
