// The flags of `train`, and the configuration file that holds them.
#pragma once

#include <memory>
#include <optional>
#include <string>

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
  std::uint64_t seed = 0;
  std::string data;
  std::optional<std::int64_t> minibatches;
  std::optional<std::int64_t> epochs;
  std::optional<double> learning_rate;
  double momentum = 0.9;
  double weight_decay = 0;
  std::optional<double> clip;
  bool no_evaluation = false;
  std::string link;
  double patience = 600;  // seconds
  double profile_seconds = 5;
  std::string out;
  std::string weights_file;
  bool as_json = false;
};

void add_train_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags);

// The flags with which exactly this training can be repeated, as text (docs/formats.md): those that
// were given and those that were decided, which `resolved` has by name. Flags that only say where
// results go are left out, and those that a decided one excludes: how the plan was made.
[[nodiscard]] std::string configuration_text(
    const CLI::App& command, const ModelOptions& options,
    const std::vector<std::pair<std::string, std::string>>& resolved);

// Gives each flag that the command line left open the value that the file has for it; a flag is not
// open where one that excludes it is given. Throws BadFile for a file that is none, or has a flag
// that `train` does not know.
void read_configuration(const std::string& file, CLI::App& command, ModelOptions& options);

// --link, where it is given. Throws BadValue.
[[nodiscard]] std::optional<Bandwidth> link_of(const TrainFlags& flags);

[[nodiscard]] train::OptimiserOptions optimiser_options(const TrainFlags& flags);

}  // namespace pipedream::cli
