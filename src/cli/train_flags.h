// The flags of `train`. `compare --run` uses them too.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/network_flags.h"
#include "cli/pictures.h"
#include "cli/planning.h"
#include "cli/simulation_flags.h"
#include "data/data_set.h"
#include "train/goal.h"
#include "train/learning_rate.h"
#include "train/optimiser_options.h"

namespace pipedream::cli {

struct TrainFlags : PlanningFlags, WeightFlags, PictureFlags {
  std::string model;
  ModelOptions options;  // the model's own options
  std::string config;
  std::vector<std::string> sets;  // --set, as NAME=VALUE
  ModelOptions set_options;       // those of `sets` that are options of the model
  // Where a setting comes from, by the name of its flag, if not from the command line.
  std::map<std::string, std::string> origins;
  std::string plan;
  std::string schedule;
  int threads = 1;
  std::string cores = "own";
  std::string device;     // empty: the one in the plan or profile
  std::string precision;  // empty: the one in the plan or profile
  std::uint64_t seed = 0;
  std::string data;
  std::optional<double> held_out;  // the share of the samples
  data::PictureOptions pictures;
  std::string tokeniser;  // data::DataOptions::tokeniser
  std::optional<std::int64_t> minibatches;
  std::optional<std::int64_t> epochs;
  // Only for training with every system, and only if neither `minibatches` nor `epochs` is given:
  // about how long the slowest system may train. All systems then train the same number of
  // minibatches, at most about an epoch but at least about 20. Not set: one epoch.
  std::optional<Seconds> each_system;
  std::optional<double> learning_rate;
  std::string warm_up;              // a train::Span; empty: none
  std::string learning_rate_decay;  // a train::Decay; empty: none
  bool scale_learning_rate = false;
  std::optional<double> momentum;
  double weight_decay = 0;
  bool decay_weights_only = false;
  double label_smoothing = 0;
  std::optional<double> ema;
  std::optional<double> clip;
  bool no_evaluation = false;
  std::optional<std::int64_t> evaluate_every;
  std::optional<std::int64_t> evaluation_samples;
  std::optional<double> target_accuracy;
  std::optional<double> target_perplexity;
  std::optional<double> target_loss;
  std::optional<std::int64_t> patience_epochs;
  std::string link;
  std::optional<double> patience;  // seconds
  double profile_seconds = 5;
  std::string out;
  bool overwrite = false;
  std::string checkpoint_every;  // as the user wrote it; empty: epoch
  std::optional<std::int64_t> checkpoint_at;
  std::optional<int> keep;
  std::string resume;  // a folder, or kResumeIfThere (cli/starting_point.h)
  bool force = false;
  bool replan = false;
  double slow_after = 60;
  std::vector<std::string> stragglers;  // as SimulationFlags::stragglers
  std::string initial_weights;
  std::vector<std::string> fresh;
  std::string weights_file;
  std::string page;  // --html
  std::string tensorboard;
  std::string serve;  // a page::LiveAddress; empty: the training is not shown
  bool as_json = false;
  bool dry_run = false;
  bool schedule_is_given = false;  // on the command line, not by a configuration
  // The two fields below are set when a configuration file is combined with flags
  // (cli/train_configuration.h).
  bool forgets_prediction = false;  // the plan was made for other settings
  std::vector<std::string> notes;   // lines to show to the user
};

// Adds the flags that any training has: the network, the length, the optimiser, the device.
void add_any_training_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags);
// Adds all flags of `train`: those of add_any_training_flags(), how to plan, and which files to
// write.
void add_train_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags);

// The bandwidth that --link gives, or nothing without the flag. Throws BadValue for a text that is
// no bandwidth.
[[nodiscard]] std::optional<Bandwidth> link_of(const TrainFlags& flags);

// What --checkpoint-every says. Nothing is set if it says `never`.
struct CheckpointInterval {
  bool epochs = false;
  std::optional<std::int64_t> minibatches{};
  std::optional<Nanos> time{};
  [[nodiscard]] bool is_never() const { return !epochs && !minibatches && !time; }
};
// Throws BadValue for a text that says none of what the flag takes.
[[nodiscard]] CheckpointInterval checkpoint_interval(const std::string& text);

// How --data is opened.
[[nodiscard]] data::DataOptions data_options(const TrainFlags& flags);
// When the training ends early.
[[nodiscard]] train::Goal goal_of(const TrainFlags& flags);
// How the learning rate changes. Throws BadValue for a text that is no span or no decay.
[[nodiscard]] train::RateOptions rate_options(const TrainFlags& flags);
// The optimiser's options. Throws BadUsage for a flag that the chosen optimiser does not have.
[[nodiscard]] train::OptimiserOptions optimiser_options(const TrainFlags& flags);

}  // namespace pipedream::cli
