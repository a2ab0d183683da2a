// Keeps an accelerator busy while a pass is queued behind it.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/units.h"

namespace pipedream::profiler {

// Giving an accelerator many small layers one by one takes the CPU longer than running them; the
// gaps would be counted as the layers' time. With enough other work in front, the layers follow
// each other without gaps. On CPU there is no queue, and nothing to do.
class Filler {
 public:
  explicit Filler(at::Device device);
  // Queues work of about that length.
  void queue(Nanos length);
  // How long an interval between two marks is with nothing in it: what marking adds to each.
  [[nodiscard]] Nanos empty_interval() const { return empty_; }

 private:
  void queue_one();

  [[nodiscard]] Nanos time_empty_intervals();

  at::Device device_;
  Nanos empty_{0};
  at::Tensor matrix_;
  at::Tensor product_;
  Nanos one_{0};  // the time of one product
};

}  // namespace pipedream::profiler
