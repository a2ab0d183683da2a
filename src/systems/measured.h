// What a plan really did: the figures of a training run, beside those of a simulation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/units.h"
#include "timeline/account.h"
#include "timeline/timeline.h"

namespace pipedream::systems {

// How far the weights of a stage had moved on when a minibatch's gradient was applied to them.
struct Staleness {
  std::int64_t most = 0;  // updates
  double mean = 0;
};

struct Measured {
  std::int64_t minibatches = 0;  // trained in all, as the schedule counts them
  std::int64_t samples = 0;      // in them
  std::int64_t first_timed =
      0;  // of the last epoch's minibatches, which summary and timeline cover
  timeline::Summary summary;
  double samples_per_second = 0;
  double samples_per_update = 0;
  double bytes_per_sample = 0;          // that left any worker
  std::vector<Bytes> memory;            // by worker: what libtorch held at the peak
  std::vector<Staleness> staleness;     // by stage
  double loss = 0;                      // of the last minibatch
  std::optional<double> held_out_loss;  // where it was evaluated
  std::optional<double> accuracy;       // on held-out samples; none where words are predicted
  std::optional<double> perplexity;     // where words are
  Seconds seconds{0};                   // the whole training, evaluation included
  timeline::Timeline timeline;          // minibatches as counted in all; empty unless asked for
};

// From the ops of a run, each worker's in their order: the version that each update started from
// against the one its minibatches' backwards used. One entry per stage.
[[nodiscard]] std::vector<Staleness> staleness_of(const std::vector<timeline::Event>& events,
                                                  std::size_t stages);

}  // namespace pipedream::systems
