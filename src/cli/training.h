// The training that `train` and `compare --run` share.
#pragma once

#include "cli/train_flags.h"

namespace pipedream::cli {

// Trains as `flags` say, on threads of this machine or as one process under mpirun. Prints and
// writes the results. Throws EndedWith (cli/run.h) if a signal stopped the training. `command` has
// the flags as the user gave them; its remaining words are the model's own options.
void train_network(TrainFlags& flags, CLI::App& command);

}  // namespace pipedream::cli
