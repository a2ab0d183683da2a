// A pass layer by layer, given to an accelerator in stretches that it runs without gaps.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "profiler/filler.h"

namespace pipedream::profiler {

// Before each stretch the device finishes all it has, and gets filling work for half as long again
// as the CPU takes to give it the stretch: so it never waits for a layer, and its queue, which
// holds about a thousand things, does not fill where a layer is some tens of kernels at most. How
// long the CPU takes is learnt from pass to pass: the first has no filling work. On CPU nothing is
// done. Used by one thread.
class Stretches {
 public:
  explicit Stretches(at::Device device) : device_(device), filler_(device) {}

  void begin_pass();
  // Before each forward, backward and update of a layer, in the same order in every pass.
  void next_layer();
  void end_pass();
  // For a pass in one go.
  void fill_for_all();
  // See Filler.
  [[nodiscard]] Nanos empty_interval() const { return filler_.empty_interval(); }

 private:
  void begin_stretch();
  void end_stretch();

  at::Device device_;
  Filler filler_;
  std::vector<Nanos> queueing_;  // by stretch: the least it took the CPU in a pass
  std::size_t layers_ = 0;       // of this pass so far
  std::size_t stretch_ = 0;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace pipedream::profiler
