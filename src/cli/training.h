// Training as `train` and `compare --run` do it.
#pragma once

#include "cli/train_flags.h"

namespace pipedream::cli {

// Trains as the flags say, on threads of this machine or as one process under mpirun, and shows and
// writes what came of it. `command` has the flags as they were given, and the model's own options
// beside them.
void train_network(TrainFlags& flags, CLI::App& command);

}  // namespace pipedream::cli
