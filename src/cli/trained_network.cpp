#include "cli/trained_network.h"

#include <algorithm>

#include "cli/flags.h"
#include "cli/train_configuration.h"
#include "core/error.h"
#include "core/file.h"
#include "model/weights_file.h"
#include "train/initial_weights.h"
#include "train/resume.h"
#include "train/run_folder.h"

namespace pipedream::cli {
namespace {

namespace fs = std::filesystem;

// Throws CannotMeet if a word of `rest` is neither a flag nor the value of the flag before it. Such
// a word is a folder that does not exist: the positional `run` takes only existing folders, because
// it would otherwise take the values of the network's own options.
void want_folder(const std::vector<std::string>& rest) {
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const auto is_flag = [](const std::string& word) { return word.starts_with("--"); };
    const bool is_value =
        i > 0 && is_flag(rest[i - 1]) && rest[i - 1].find('=') == std::string::npos;
    if (!is_flag(rest[i]) && !is_value) throw CannotMeet(rest[i] + ": there is no such folder");
  }
}

// Throws BadUsage for a flag of `train` among words that `command` did not take: it would change
// nothing.
void want_no_flags(const CLI::App& train, const std::vector<std::string>& rest,
                   const std::string& command) {
  for (const std::string& word : rest) {
    const std::string name = word.substr(0, word.find('='));
    if (name.starts_with("--") && train.get_option_no_throw(name) != nullptr)
      throw BadUsage(command + " has no flag " + name + ", which is for train: leave it out");
  }
}

// Reads the configuration that the run folder has, as `train --config` does.
TrainedSettings read_settings(const TrainedFlags& given, const fs::path& run,
                              const std::vector<std::string>& rest, const std::string& command) {
  CLI::App train{"", command};
  const auto flags = std::make_shared<TrainFlags>();
  add_train_flags(train, flags);
  want_no_flags(train, rest, command);
  std::vector<std::string> words(given.settings);
  words.insert(words.end(), rest.begin(), rest.end());
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  train.parse(words);
  std::optional<Configuration> configuration;
  if (!run.empty()) {
    const std::string file = (run / train::kConfigurationFile).string();
    configuration.emplace(read_file(file), file, train);
    if (flags->model.empty()) flags->model = configuration->model();
  }
  if (flags->model.empty())
    throw BadUsage(command + ": wanted the folder of a run, or --model NAME and --weights FILE");
  model::NetworkEntry entry = network_named(flags->model);
  flags->options = model_options(train.remaining(), entry.options, flag_names(train));
  if (configuration) {
    configuration->want_options(entry.options, train);
    configuration->fill_in(train, *flags, Use::kRepeat);
  }
  return {*flags, std::move(entry)};
}

TrainedWeights in_checkpoint(const model::Network& network, const train::SoundCheckpoint& found) {
  train::want_fitting(network, found);
  return {train::weights_to_use(found), found.path.string(), train::metadata_of(found)};
}

TrainedWeights in_file(const model::Network& network, const std::string& file) {
  return {train::find_weights(network, {.file = file, .may_be_fresh = false}), file,
          model::WeightsReader(file).metadata()};
}

// The folder of the run that the user names, directly or by one of its checkpoints.
fs::path run_folder(const TrainedFlags& flags) {
  if (flags.run.empty()) return {};
  const fs::path run = train::parse_resume_name(flags.run).run;
  if (!is_there(run / train::kConfigurationFile))
    throw CannotMeet(run.string() + " is no run: name a folder that 'train --out' has written to");
  return run;
}

}  // namespace

void add_trained_flags(CLI::App& command, const std::shared_ptr<TrainedFlags>& flags) {
  command.validate_positionals();
  command
      .add_option("run", flags->run,
                  "Folder of a training (its --out), or one of its checkpoints: its settings "
                  "and its newest weights")
      ->check([](const std::string& word) {
        return fs::is_directory(word) ? "" : "there is no such folder";
      });
  command.add_option("--weights", flags->weights, "Weights to use instead (safetensors)");
  add_setting(command, flags, "--model", "Network, if no run names it");
  allow_model_options(command);
}

void add_setting(CLI::App& command, const std::shared_ptr<TrainedFlags>& flags,
                 const std::string& name, const std::string& help) {
  command.add_option_function<std::string>(
      name,
      [flags, first = name.substr(0, name.find(','))](const std::string& value) {
        flags->settings.push_back(first + "=" + value);
      },
      help);
}

TrainedSettings trained_settings(const TrainedFlags& given, const std::vector<std::string>& rest,
                                 const std::string& command) {
  want_folder(rest);
  return read_settings(given, run_folder(given), rest, command);
}

TrainedWeights trained_weights(const TrainedFlags& flags, const model::Network& network,
                               const std::string& command) {
  if (!flags.weights.empty()) return in_file(network, flags.weights);
  if (flags.run.empty())
    throw BadUsage(command + ": wanted --weights FILE, or the folder of a run");
  if (const auto newest = train::find_checkpoint(flags.run)) return in_checkpoint(network, *newest);
  const fs::path file = fs::path(flags.run) / train::kWeightsFile;
  if (!is_there(file))
    throw CannotMeet(flags.run +
                     " has neither checkpoints nor weights: train longer, or name "
                     "weights with --weights");
  return in_file(network, file.string());
}

}  // namespace pipedream::cli
