// The flags of `train`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/network_flags.h"
#include "cli/pictures.h"
#include "cli/planning.h"
#include "cli/simulation_flags.h"
#include "train/optimiser_options.h"

namespace pipedream::cli {

struct TrainFlags : PlanningFlags, WeightFlags, PictureFlags {
  std::string model;
  ModelOptions options;  // the model's own
  std::string config;
  std::string plan;
  std::string schedule;
  std::optional<int> workers;
  int threads = 1;
  std::string device;     // empty: as plan or profile say
  std::string precision;  // likewise
  std::uint64_t seed = 0;
  std::string data;
  std::optional<std::int64_t> minibatches;
  std::optional<std::int64_t> epochs;
  // Where neither is given: about as many as the slowest of all systems trains in this time, and no
  // more than an epoch has. None: an epoch.
  std::optional<Seconds> each_system;
  std::optional<double> learning_rate;
  std::optional<double> momentum;
  double weight_decay = 0;
  std::optional<double> clip;
  bool no_evaluation = false;
  std::string link;
  double patience = 600;  // seconds
  double profile_seconds = 5;
  std::string out;
  bool overwrite = false;
  std::string weights_file;
  bool as_json = false;
  // What follows from a configuration and flags beside it (cli/train_configuration.h).
  bool forgets_prediction = false;  // the plan's: it was made for something else
  std::vector<std::string> notes;   // lines for the user
};

// Those of any training: the network, how long, with which optimiser, on what.
void add_any_training_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags);
// All of `train`: these, how to plan, and what to leave behind.
void add_train_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags);

// --link, where it is given. Throws BadValue.
[[nodiscard]] std::optional<Bandwidth> link_of(const TrainFlags& flags);

// Throws BadUsage for a flag that means nothing to the optimiser.
[[nodiscard]] train::OptimiserOptions optimiser_options(const TrainFlags& flags);

}  // namespace pipedream::cli
