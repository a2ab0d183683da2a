// From the flags of `train` to what is asked of the trainer.
#pragma once

#include "cli/train_flags.h"
#include "train/preparation.h"
#include "train/request.h"

namespace pipedream::cli {

// Throws BadUsage for flags that make no sense together.
[[nodiscard]] train::Request request_of(const TrainFlags& flags);
[[nodiscard]] train::PlanRequest plan_request_of(const TrainFlags& flags);

}  // namespace pipedream::cli
