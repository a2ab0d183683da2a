// The training that `train` and `compare --run` share.
#pragma once

#include <string>

#include "cli/train_flags.h"

namespace pipedream::cli {

// Trains as `flags` say, on threads of this machine or as one process under mpirun. Prints and
// writes the results. Throws EndedWith (cli/run.h) if a signal stopped the training. `command` has
// the flags as the user gave them; its remaining words are the model's own options.
void train_network(TrainFlags& flags, CLI::App& command);

// Tells the other processes of an MPI launcher why this one refuses the command line of `command`.
// Throws what all of them then throw. Does nothing if there are no others, or if `command` does not
// train.
void tell_refusal(const CLI::App& command, const std::string& why);

}  // namespace pipedream::cli
