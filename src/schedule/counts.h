// What a stage on one worker keeps while its program runs: weight versions, gradient buffers, items
// in flight. A matter of the order of ops alone, so the same when simulated and when really run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/fifo.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

struct Counts {
  int versions = 1;   // of the weights
  int gradients = 0;  // buffers as large as the weights
  int in_flight = 0;  // items between forward and backward
  friend bool operator==(const Counts&, const Counts&) = default;
};

// Takes the ops of one stage on one worker in their order, and knows the largest counts so far.
// A version lives while it is among the newest that are kept, or, with stashing, while a forward
// that began on it has no backward; an update of a version that nobody needs is done in place.
class Counter {
 public:
  explicit Counter(const Rules& rules)
      : stashes_(rules.stashes()), trains_(rules.trains), kept_(rules.kept()) {
    versions_.push({{0}, 0});
  }

  void forward(WeightVersion weights) {
    if (!trains_) return;
    peak_.in_flight = std::max(peak_.in_flight, ++in_flight_);
    if (stashes_) ++versions_[place_of(weights)].users;
  }
  // A whole backward, or its second part.
  void backward(WeightVersion weights) {
    --in_flight_;
    accumulating_ = true;
    note_gradients();
    if (!stashes_) return;
    const std::size_t place = place_of(weights);
    --versions_[place].users;
    drop_unused(place);
  }
  // What was gathered is averaged from here on; further gradients go to another buffer.
  void reduce() {
    accumulating_ = false;
    ++averaging_;
    note_gradients();
  }
  // The gathered, or the averaged, gradients are used up.
  void push() { accumulating_ = false; }
  void update(WeightVersion to) {
    if (averaging_ > 0)
      --averaging_;
    else
      accumulating_ = false;
    fetch(to);
  }
  // A new version of the weights.
  void fetch(WeightVersion to) {
    newest_ = to;
    // A version that is no longer among the newest may have had no other reason to stay.
    for (std::size_t i = versions_.size(); i-- > 0;)
      if (versions_[i].version.value == to.value - kept_) {
        drop_unused(i);
        break;
      }
    versions_.push({to, 0});
    peak_.versions = std::max(peak_.versions, static_cast<int>(versions_.size()));
  }

  [[nodiscard]] const Counts& peak() const { return peak_; }
  [[nodiscard]] Counts now() const {
    return {static_cast<int>(versions_.size()), averaging_ + (accumulating_ ? 1 : 0), in_flight_};
  }
  // Whether the next backward finds gradients to add to.
  [[nodiscard]] bool accumulates() const { return accumulating_; }

 private:
  struct Version {
    WeightVersion version;
    int users;
  };
  // Versions are in their order: the oldest leave first, the newest come last.
  std::size_t place_of(WeightVersion weights) {
    if (!versions_.empty() && versions_.back().version == weights) return versions_.size() - 1;
    for (std::size_t i = 0; i < versions_.size(); ++i)
      if (versions_[i].version == weights) return i;
    versions_.push({weights, 0});
    return versions_.size() - 1;
  }
  void drop_unused(std::size_t place) {
    const Version& version = versions_[place];
    if (version.users == 0 && version.version.value <= newest_.value - kept_) versions_.take(place);
  }
  void note_gradients() { peak_.gradients = std::max(peak_.gradients, now().gradients); }

  bool stashes_;
  bool trains_;
  int kept_;
  WeightVersion newest_{0};
  Fifo<Version> versions_;
  int in_flight_ = 0;
  bool accumulating_ = false;
  int averaging_ = 0;
  Counts peak_;
};

// Forwards and backwards; for other ops their own members say what they do.
void count(const Op& op, Counter& counter);

}  // namespace pipedream::schedule
