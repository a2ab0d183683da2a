// Queues a pass layer by layer on an accelerator, in stretches of layers that run without gaps.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "profiler/filler.h"

namespace pipedream::profiler {

// Before each stretch the device finishes all its work. Then filling work is queued that takes 1.5
// times as long as the CPU takes to queue the stretch, so the device never waits for a layer. The
// device's queue holds about a thousand kernels; it does not fill up if a layer has some tens of
// kernels at most. How long the CPU takes is learnt from pass to pass, so the first pass has no
// filling work. On CPU there is nothing to fill, and passes run as they are. Used from one thread.
class Stretches {
 public:
  explicit Stretches(at::Device device) : device_(device), filler_(device) {}

  void begin_pass();
  // Called before each forward, backward and update of a layer, in the same order in every pass.
  void next_layer();
  void end_pass();
  // Queues filling work for a pass of the whole model in one go.
  void fill_for_all();
  // What marking adds to every interval between two marks (Filler).
  [[nodiscard]] Nanos empty_interval() const { return filler_.empty_interval(); }

 private:
  void begin_stretch();
  void end_stretch();

  at::Device device_;
  Filler filler_;
  std::vector<Nanos> queueing_;  // by stretch: the shortest time the CPU took to queue it
  std::size_t layers_ = 0;       // calls of next_layer() in this pass
  std::size_t stretch_ = 0;      // number of the current stretch in this pass
  std::chrono::steady_clock::time_point began_;  // when the CPU began to queue the stretch
};

}  // namespace pipedream::profiler
