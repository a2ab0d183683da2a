// What `train` tells the user before and while it trains. Every function returns a line, or an
// empty text if there is nothing to tell.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/manifest.h"
#include "graph/graph.h"
#include "plan/plan.h"

namespace pipedream::cli {

// The workers of one machine, and what it has for them: cores, or GPUs.
struct Crowd {
  int workers = 1;
  int threads = 1;  // of each worker
  bool on_cpu = true;
  int room = 1;  // cores, or GPUs
  // How many cores, or GPUs, the workers use if each runs at full speed.
  [[nodiscard]] int claims() const { return workers * (on_cpu ? threads : 1); }
};
// Says that workers share cores or GPUs.
[[nodiscard]] std::string crowd_note(const Crowd& crowd);

// Says that a minibatch has fewer samples than --batch, because the data set has no more.
[[nodiscard]] std::string small_data_note(std::int64_t samples, std::int64_t batch);

// Says that the plan does not use all of `workers`.
[[nodiscard]] std::string idle_note(const plan::Plan& plan, int workers);

// Says that --accumulate makes one update of the whole training, which has `samples` samples.
[[nodiscard]] std::string large_update_note(const plan::Plan& plan, std::int64_t batch,
                                            std::int64_t samples);

// Says that an update is made from more or fewer samples than before the checkpoint `from`. The
// user may want to meet that with another learning rate.
[[nodiscard]] std::string other_updates_note(const checkpoint::Manifest& from,
                                             const plan::Plan& plan, const graph::Graph& graph,
                                             std::int64_t batch);

// Returns the system and the replicas of the stages, as in "gpipe 1-1".
[[nodiscard]] std::string name_of(const plan::Plan& plan);

}  // namespace pipedream::cli
