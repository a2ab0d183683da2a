// Counts what a worker keeps in memory for one stage while its program runs: weight versions,
// gradient buffers and items in flight. The counts follow from the order of ops alone, so they are
// equal in a simulation and in a real run of the same schedule. cost/counts.h predicts the peaks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/fifo.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

struct Counts {
  int versions = 1;   // versions of the weights
  int gradients = 0;  // gradient buffers, each as large as the weights
  int in_flight = 0;  // items between forward and backward
  friend bool operator==(const Counts&, const Counts&) = default;
};

// Counts for one stage on one worker. The members must be called in the order of the worker's
// program. A weight version lives while it is among the newest `Rules::kept()` versions. With
// stashing it also lives while an item whose forward used it has not run backward. An update first
// frees the version that leaves the newest ones if no item uses it: the update is then done in
// place.
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
  // A whole backward, or the weight part of a split backward.
  void backward(WeightVersion weights) {
    --in_flight_;
    accumulating_ = true;
    note_gradients();
    if (!stashes_) return;
    const std::size_t place = place_of(weights);
    --versions_[place].users;
    drop_unused(place);
  }
  // The averaging of the accumulated gradients begins. Later backwards use another buffer.
  void reduce() {
    accumulating_ = false;
    ++averaging_;
    note_gradients();
  }
  // The accumulated gradients are sent to the parameter servers, and their buffer is free again.
  void push() { accumulating_ = false; }
  // An update to version `to` uses up averaged gradients or, if there are none, the accumulated
  // ones.
  void update(WeightVersion to) {
    if (averaging_ > 0)
      --averaging_;
    else
      accumulating_ = false;
    fetch(to);
  }
  // Version `to` becomes the newest weights of the stage.
  void fetch(WeightVersion to) {
    newest_ = to;
    // The version that is no longer among the newest is freed, unless an item still uses it.
    for (std::size_t i = versions_.size(); i-- > 0;)
      if (versions_[i].version.value == to.value - kept_) {
        drop_unused(i);
        break;
      }
    versions_.push({to, 0});
    peak_.versions = std::max(peak_.versions, static_cast<int>(versions_.size()));
  }

  // Returns the largest value of each count so far.
  [[nodiscard]] const Counts& peak() const { return peak_; }
  [[nodiscard]] Counts now() const {
    return {static_cast<int>(versions_.size()), averaging_ + (accumulating_ ? 1 : 0), in_flight_};
  }
  // Returns whether the next backward adds to gradients that earlier items have left.
  [[nodiscard]] bool accumulates() const { return accumulating_; }

 private:
  struct Version {
    WeightVersion version;
    int users;  // items in flight whose forward used it
  };
  // Returns the index of version `weights` in `versions_`, which it adds if it is missing.
  // `versions_` is sorted from the oldest version to the newest.
  std::size_t place_of(WeightVersion weights) {
    if (!versions_.empty() && versions_.back().version == weights) return versions_.size() - 1;
    for (std::size_t i = 0; i < versions_.size(); ++i)
      if (versions_[i].version == weights) return i;
    versions_.push({weights, 0});
    return versions_.size() - 1;
  }
  void drop_unused(std::size_t place) {
    const Version& version = versions_[place];
    if (version.users == 0 && version.version.value <= newest_.value - kept_)
      versions_.remove(place);
  }
  void note_gradients() { peak_.gradients = std::max(peak_.gradients, now().gradients); }

  bool stashes_;
  bool trains_;
  int kept_;
  WeightVersion newest_{0};
  Fifo<Version> versions_;
  int in_flight_ = 0;
  bool accumulating_ = false;  // a buffer holds gradients that are not averaged, pushed or applied
  int averaging_ = 0;          // buffers from the start of their averaging to their update
  Counts peak_;
};

// Counts `op` if it is a forward or a backward, and ignores it otherwise. For other ops, call the
// members of `counter`.
void count(const Op& op, Counter& counter);

}  // namespace pipedream::schedule
