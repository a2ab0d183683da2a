// The network and the weights that commands use after training: evaluate and generate.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/train_flags.h"
#include "model/network_entry.h"
#include "runtime/state.h"

namespace pipedream::cli {

// How a user names a trained network.
struct TrainedFlags {
  std::string run;      // empty, a run folder, or the folder of one of its checkpoints
  std::string weights;  // a file; empty: those of the run
  std::vector<std::string> settings;  // flags of `train` that the user gave: "--batch=64"
};

// Adds the positional `run`, --weights and --model, and allows the network's own options.
void add_trained_flags(CLI::App& command, const std::shared_ptr<TrainedFlags>& flags);

// Adds a flag of `train`, whose value `train` checks. `name` is as CLI11 takes it.
void add_setting(CLI::App& command, const std::shared_ptr<TrainedFlags>& flags,
                 const std::string& name, const std::string& help);

// The settings of a training, from its configuration and from the flags that the user gave.
struct TrainedSettings {
  TrainFlags flags;
  model::NetworkEntry entry;
};

// Reads the configuration of the run, as `train --config` does. `rest` has the words of the command
// line that no flag took: the network's own options. `command` is the command's name, for messages.
// Throws BadUsage or CannotMeet if nothing names a network, or if the run is none.
[[nodiscard]] TrainedSettings trained_settings(const TrainedFlags& given,
                                               const std::vector<std::string>& rest,
                                               const std::string& command);

// Weights that were found.
struct TrainedWeights {
  runtime::FindTensor find;
  std::string name;                 // for people
  model::WeightsMetadata metadata;  // how the data was prepared, and facts of the network
};

// Finds the weights that the user names: those of a file, of a checkpoint, or the newest of a run.
// Throws CannotMeet if there are none, or if they do not fit the network.
[[nodiscard]] TrainedWeights trained_weights(const TrainedFlags& given,
                                             const model::Network& network,
                                             const std::string& command);

}  // namespace pipedream::cli
