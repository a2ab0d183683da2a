// Translates the flags of `train` into requests to the trainer (src/train).
#pragma once

#include "cli/train_flags.h"
#include "model/network_entry.h"
#include "train/preparation.h"
#include "train/request.h"

namespace pipedream::cli {

// The network, with the model's own options and with what the flags change of its loss.
[[nodiscard]] model::Network network_of(const TrainFlags& flags, const model::NetworkEntry& entry);

// Both functions throw BadUsage for flags that cannot be read or make no sense together.
[[nodiscard]] train::Request request_of(const TrainFlags& flags);
[[nodiscard]] train::PlanRequest plan_request_of(const TrainFlags& flags);

}  // namespace pipedream::cli
