// Translates the flags of `train` into requests to the trainer (src/train).
#pragma once

#include "cli/train_flags.h"
#include "model/network_entry.h"
#include "train/preparation.h"
#include "train/request.h"

namespace pipedream::cli {

// The network, with the model's own options and with what the flags change of its loss.
[[nodiscard]] model::Network network_of(const TrainFlags& flags, const model::NetworkEntry& entry);

// The device and the precision of the flags; those of the plan or, without one, of the profile
// where the flags leave them open.
[[nodiscard]] runtime::Computing computing_of(const TrainFlags& flags,
                                              const model::Network& network);

// How many workers this machine has room for, with this device and `--threads`: by its cores or
// GPUs.
[[nodiscard]] int workers_with_room(const TrainFlags& flags, const runtime::Computing& computing);

// Both functions throw BadUsage for flags that cannot be read or make no sense together.
[[nodiscard]] train::Request request_of(const TrainFlags& flags);
[[nodiscard]] train::PlanRequest plan_request_of(const TrainFlags& flags);

}  // namespace pipedream::cli
