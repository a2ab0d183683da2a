// Filling work, which keeps an accelerator busy while the CPU queues a pass behind it.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/units.h"

namespace pipedream::profiler {

// To queue many small layers one by one takes the CPU longer than the accelerator takes to run
// them, and the gaps would be counted as the layers' time. With enough filling work in front of
// them the layers run without gaps. On CPU there is no queue, and a filler does nothing. Used from
// one thread.
class Filler {
 public:
  explicit Filler(at::Device device);
  // Queues work that takes the device about `length`.
  void queue(Nanos length);
  // The time between two marks with no work between them: what marking adds to every interval. 0 on
  // CPU.
  [[nodiscard]] Nanos empty_interval() const { return empty_; }

 private:
  void queue_one();  // one matrix product

  [[nodiscard]] Nanos time_empty_intervals();

  at::Device device_;
  Nanos empty_{0};
  at::Tensor matrix_;
  at::Tensor product_;
  Nanos one_{0};  // the time of one matrix product
};

}  // namespace pipedream::profiler
