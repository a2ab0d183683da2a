// pipedream evaluate: what trained weights score on data.
#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/progress.h"
#include "cli/spelling.h"
#include "cli/train_configuration.h"
#include "cli/train_request.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "data/tokeniser.h"
#include "model/padding.h"
#include "report/score_words.h"
#include "train/evaluating.h"
#include "train/initial_weights.h"
#include "train/resume.h"
#include "train/run_folder.h"
#include "train/scoring.h"

namespace pipedream::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct EvaluateFlags {
  std::string run;  // empty, a run folder, or the folder of one of its checkpoints
  std::string weights;
  std::vector<std::string> settings;  // flags of `train` that the user gave: "--batch=64"
  bool on_training = false;
  std::optional<std::int64_t> samples;
  bool as_json = false;
};

// The settings of a training, from its configuration and from the flags that the user gave.
struct Settings {
  TrainFlags flags;
  model::NetworkEntry entry;
};

// Weights that were found, and their name for people.
struct FoundWeights {
  runtime::FindTensor find;
  std::string name;
};

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

// The tokeniser of a run: the vocabulary that it has learned, also for other text.
std::string tokeniser_of(const fs::path& run, const TrainFlags& flags) {
  if (!data::takes_tokeniser(flags.data)) return "";
  const fs::path learned = run / train::kVocabularyFile;
  return is_there(learned) ? learned.string() : flags.tokeniser;
}

// Reads the configuration that the run folder has, as `train --config` does.
Settings read_settings(const EvaluateFlags& given, const fs::path& run,
                       const std::vector<std::string>& rest) {
  CLI::App train{"", "evaluate"};
  const auto flags = std::make_shared<TrainFlags>();
  add_train_flags(train, flags);
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
    throw BadUsage("evaluate: wanted the folder of a run, or --model NAME and --weights FILE");
  model::NetworkEntry entry = network_named(flags->model);
  flags->options = model_options(train.remaining(), entry.options, flag_names(train));
  const bool names_tokeniser = !flags->tokeniser.empty();
  if (configuration) {
    configuration->want_options(entry.options, train);
    configuration->fill_in(train, *flags, Use::kRepeat);
    if (!names_tokeniser) flags->tokeniser = tokeniser_of(run, *flags);
  }
  return {*flags, std::move(entry)};
}

FoundWeights in_checkpoint(const model::Network& network, const train::SoundCheckpoint& found) {
  train::want_fitting(network, found);
  return {train::tensors_of(found), found.path.string()};
}

FoundWeights in_file(const model::Network& network, const std::string& file) {
  return {train::find_weights(network, {.file = file, .may_be_fresh = false}), file};
}

// The weights that the user names: those of a file, of a checkpoint, or the newest of a run.
FoundWeights find_weights(const EvaluateFlags& flags, const model::Network& network) {
  if (!flags.weights.empty()) return in_file(network, flags.weights);
  if (flags.run.empty()) throw BadUsage("evaluate: wanted --weights FILE, or the folder of a run");
  if (const auto newest = train::find_checkpoint(flags.run)) return in_checkpoint(network, *newest);
  const fs::path file = fs::path(flags.run) / train::kWeightsFile;
  if (!is_there(file))
    throw CannotMeet(flags.run +
                     " has neither checkpoints nor weights: train longer, or name "
                     "weights with --weights");
  return in_file(network, file.string());
}

// The folder of the run that the user names, directly or by one of its checkpoints.
fs::path run_folder(const EvaluateFlags& flags) {
  if (flags.run.empty()) return {};
  const fs::path run = train::parse_resume_name(flags.run).run;
  if (!is_there(run / train::kConfigurationFile))
    throw CannotMeet(run.string() + " is no run: name a folder that 'train --out' has written to");
  return run;
}

const data::DataSet& chosen_data(const EvaluateFlags& flags, const data::Data& data) {
  if (flags.on_training) return *data.training;
  if (data.held_out == nullptr)
    throw CannotMeet("no samples are held out: choose --held-out, or --on-training");
  return *data.held_out;
}

Json json_of(const std::string& model, const std::string& weights, const TrainFlags& flags,
             const EvaluateFlags& given, const runtime::Score& score) {
  Json json{{"format", "pipedream-evaluation"},
            {"version", 1},
            {"model", model},
            {"weights", any_bytes(weights)},
            {"data", any_bytes(absolute_data_name(flags.data))},
            {"held_out", !given.on_training},
            {"samples", score.samples},
            {"loss", score.mean_loss()}};
  if (const auto accuracy = train::accuracy_of(score)) json["accuracy"] = *accuracy;
  if (const auto top5 = train::top5_of(score)) json["top5_accuracy"] = *top5;
  if (const auto perplexity = train::perplexity_of(score)) json["perplexity"] = *perplexity;
  return json;
}

void show(const std::string& model, const std::string& weights, const EvaluateFlags& given,
          const runtime::Score& score) {
  std::cout << "model        " << model << "\n"
            << "weights      " << weights << "\n"
            << "data         " << counted(score.samples, "sample", "samples")
            << (given.on_training ? " of the training data" : ", held out") << "\n"
            << "loss         "
            << report::score_words({score.mean_loss(), train::accuracy_of(score),
                                    train::top5_of(score), train::perplexity_of(score)})
            << "\n";
}

void execute(const EvaluateFlags& given, const std::vector<std::string>& rest) {
  want_folder(rest);
  Settings settings = read_settings(given, run_folder(given), rest);
  TrainFlags& flags = settings.flags;
  check_threads(flags.threads);
  model::Network network = network_of(flags, settings.entry);
  const FoundWeights weights = find_weights(given, network);
  const data::Data opened = data::open_data(
      flags.data, network,
      {.seed = flags.seed, .held_out = flags.held_out, .tokeniser = flags.tokeniser});
  if (opened.has_padding) model::ignore_padding(network);
  const data::DataSet& data = chosen_data(given, opened);
  const std::int64_t samples =
      train::evaluated_samples(data, network, given.samples.value_or(INT64_MAX));
  const runtime::Computing computing = computing_of(flags, network);
  const std::int64_t minibatches = (samples - 1) / network.batch + 1;
  PhaseProgress progress;
  const runtime::Score score =
      train::evaluate({.network = network,
                       .weights = weights.find,
                       .data = data,
                       .samples = samples,
                       .workers = static_cast<int>(std::min<std::int64_t>(
                           workers_with_room(flags, computing), minibatches)),
                       .threads = flags.threads,
                       .bind_cores = flags.cores == kOwnCores,
                       .computing = computing,
                       .progress = [&](std::int64_t done, std::int64_t all) {
                         progress.bar("evaluating " + network.name, kQuietPhase)
                             .show(static_cast<double>(done) / static_cast<double>(all), "");
                       }});
  progress.end();
  if (given.as_json)
    std::cout << json_of(network.name, weights.name, flags, given, score).dump(2) << "\n";
  else
    show(network.name, weights.name, given, score);
}

// Adds a flag of `train`, whose value `train` checks.
void add_setting(CLI::App& command, const std::shared_ptr<EvaluateFlags>& flags,
                 const std::string& name, const std::string& help) {
  command.add_option_function<std::string>(
      name,
      [flags, first = name.substr(0, name.find(','))](const std::string& value) {
        flags->settings.push_back(first + "=" + value);
      },
      help);
}

}  // namespace

void add_evaluate(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "evaluate", "Score trained weights on held-out data: loss, accuracy, perplexity");
  const auto flags = std::make_shared<EvaluateFlags>();
  command->validate_positionals();
  command
      ->add_option("run", flags->run,
                   "Folder of a training (its --out), or one of its checkpoints: its settings "
                   "and its newest weights")
      ->check([](const std::string& word) {
        return fs::is_directory(word) ? "" : "there is no such folder";
      });
  command->add_option("--weights", flags->weights, "Weights to use instead (safetensors)");
  add_setting(*command, flags, "--model", "Network, if no run names it");
  add_setting(*command, flags, "--data", "Data to use instead of the run's, as in train");
  add_setting(*command, flags, "--held-out", "Share of the samples that is held out, as in train");
  add_setting(*command, flags, "--tokeniser", "Tokens of text, as in train [the run's]");
  command->add_flag("--on-training", flags->on_training, "Use the samples that the run trained on");
  command->add_option("--samples", flags->samples, "Evaluate at most this many samples [all]")
      ->check(range<std::int64_t>(1, train::kMostMinibatches, kWholeNumber));
  add_setting(*command, flags, "--batch", "Samples of a minibatch [the run's]");
  add_setting(*command, flags, "--threads", "CPU threads of each worker [the run's]");
  add_setting(*command, flags, "--cores", kCoresHelp);
  add_setting(*command, flags, "--device", "cpu, cuda or cuda:1 [the run's]");
  add_setting(*command, flags, "--precision", "fp32 or bf16 [the run's]");
  add_setting(*command, flags, "--seed", "Seed of synthetic data [the run's]");
  command->add_flag("--json", flags->as_json, "Print one JSON object instead of the table");
  allow_model_options(*command);
  command->callback([flags, command] { execute(*flags, command->remaining()); });
}

}  // namespace pipedream::cli
