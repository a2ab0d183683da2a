#include "profiler/stretches.h"

#include <algorithm>
#include <numeric>

#include "model/mark.h"

namespace pipedream::profiler {
namespace {

constexpr std::size_t kLayers = 16;  // forwards, backwards or updates per stretch

// The length of filling work that covers `queueing`, with something to spare.
Nanos enough_for(Nanos queueing) { return queueing * 3 / 2; }

}  // namespace

void Stretches::begin_pass() { layers_ = 0; }

void Stretches::next_layer() {
  if (layers_ % kLayers == 0) {
    if (layers_ > 0) end_stretch();
    stretch_ = layers_ / kLayers;
    begin_stretch();
  }
  ++layers_;
}

void Stretches::end_pass() {
  if (layers_ > 0) end_stretch();
}

void Stretches::fill_for_all() {
  filler_.queue(enough_for(std::accumulate(queueing_.begin(), queueing_.end(), Nanos{0})));
}

void Stretches::begin_stretch() {
  model::Mark(device_).wait();
  if (stretch_ < queueing_.size()) filler_.queue(enough_for(queueing_[stretch_]));
  began_ = std::chrono::steady_clock::now();
}

void Stretches::end_stretch() {
  const auto used = std::chrono::duration_cast<Nanos>(std::chrono::steady_clock::now() - began_);
  if (stretch_ == queueing_.size())
    queueing_.push_back(used);
  else
    queueing_[stretch_] = std::min(queueing_[stretch_], used);
}

}  // namespace pipedream::profiler
