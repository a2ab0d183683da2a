// pipedream evaluate: what trained weights score on data.
#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/progress.h"
#include "cli/train_configuration.h"
#include "cli/train_request.h"
#include "cli/trained_network.h"
#include "core/error.h"
#include "core/text.h"
#include "data/idx.h"
#include "data/task.h"
#include "generate/translation_score.h"
#include "model/padding.h"
#include "model/threads.h"
#include "report/score_words.h"
#include "report/table.h"
#include "train/evaluating.h"
#include "train/scoring.h"

namespace pipedream::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct EvaluateFlags : TrainedFlags {
  bool on_training = false;
  std::optional<std::int64_t> samples;
  bool bleu = false;
  bool as_json = false;
};

struct Scores {
  runtime::Score score;
  std::optional<double> bleu;  // of the network's own translations, if it was asked for
};

const data::DataSet& chosen_data(const EvaluateFlags& flags, const data::Data& data) {
  if (flags.on_training) return *data.training;
  if (data.held_out == nullptr)
    throw CannotMeet("no samples are held out: choose --held-out, or --on-training");
  return *data.held_out;
}

// Throws CannotMeet if samples would count as held out that the run has trained on. `rest`: as in
// trained_settings().
void want_held_out_before(const EvaluateFlags& given, const std::vector<std::string>& rest,
                          const TrainFlags& flags) {
  if (given.run.empty() || given.on_training || !flags.held_out) return;
  TrainedFlags as_trained = given;
  as_trained.settings.clear();
  const TrainFlags before = trained_settings(as_trained, rest, "evaluate").flags;
  const double usual =
      before.data.starts_with("idx:") ? data::kIdxHeldOutShare : data::kHeldOutShare;
  const double share = before.held_out.value_or(usual);
  if (before.data != flags.data || *flags.held_out <= share) return;
  throw CannotMeet("--held-out " + brief_number(*flags.held_out) + ": the run held out " +
                   brief_number(share) +
                   ", and has trained on the samples before them: leave --held-out out, or choose "
                   "--on-training");
}

// Throws CannotMeet if pictures have other classes than the weights know.
void want_same_classes(const std::map<std::string, std::string>& known,
                       const std::map<std::string, std::string>& found) {
  const auto before = known.find("classes");
  const auto now = found.find("classes");
  if (before == known.end() || now == found.end() || before->second == now->second) return;
  throw CannotMeet("the weights know the classes " + printable(before->second) +
                   ", and the data has " + printable(now->second) + ": choose other data");
}

Json json_of(const std::string& model, const std::string& weights, const TrainFlags& flags,
             const EvaluateFlags& given, const Scores& scores) {
  const runtime::Score& score = scores.score;
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
  if (scores.bleu) json["bleu"] = *scores.bleu;
  return json;
}

void show(const std::string& model, const std::string& weights, const std::string& data,
          const EvaluateFlags& given, const Scores& scores) {
  const runtime::Score& score = scores.score;
  std::cout << "model        " << model << "\n"
            << "weights      " << weights << "\n"
            << "data         " << counted(score.samples, "sample", "samples") << " of "
            << printable(data) << (given.on_training ? ", of the part to train on" : ", held out")
            << "\n"
            << "loss         "
            << report::score_words({score.mean_loss(), train::accuracy_of(score),
                                    train::top5_of(score), train::perplexity_of(score)})
            << "\n";
  if (scores.bleu)
    std::cout << "BLEU         " << report::three_digits(*scores.bleu)
              << " of greedy translations\n";
}

// The task, if BLEU can be computed for this data. Throws CannotMeet if not.
data::Translation translation_of(const model::Network& network, const data::Data& data) {
  const auto task = data::task_of(network);
  if (!task || !std::holds_alternative<data::Translation>(*task) || !data.vocabulary)
    throw CannotMeet(
        "--bleu compares translations: it is for networks that translate, and for "
        "--data pairs:FILE,FILE");
  return std::get<data::Translation>(*task);
}

double bleu_of(const model::Network& network, const TrainedWeights& weights,
               const data::Translation& task, const generate::ScoredTranslations& of,
               const runtime::Computing& computing, PhaseProgress& progress) {
  generate::Predictor predictor(network, weights.find, computing.device, computing.precision);
  const auto show = [&](std::int64_t done) {
    progress.bar("translating", kQuietPhase)
        .show(static_cast<double>(done) / static_cast<double>(of.samples), "");
  };
  return text::bleu(generate::score_translations(predictor, task, of, show));
}

void execute(const EvaluateFlags& given, const std::vector<std::string>& rest) {
  TrainedSettings settings = trained_settings(given, rest, "evaluate");
  TrainFlags& flags = settings.flags;
  check_threads(flags.threads);
  model::Network network = network_of(flags, settings.entry);
  want_held_out_before(given, rest, flags);
  const TrainedWeights weights = trained_weights(given, network, "evaluate");
  flags.pictures.augment.clear();  // also with --on-training
  data::DataOptions options = data_options(flags);
  options.earlier = model::facts_of_data(weights.metadata);
  const data::Data opened = data::open_data(flags.data, network, options);
  want_same_classes(options.earlier, opened.facts);
  if (opened.has_padding) model::ignore_padding(network);
  const data::DataSet& data = chosen_data(given, opened);
  const std::int64_t samples =
      train::evaluated_samples(data, network, given.samples.value_or(INT64_MAX));
  const runtime::Computing computing = computing_of(flags, network);
  const std::int64_t minibatches = (samples - 1) / network.batch + 1;
  PhaseProgress progress;
  std::optional<data::Translation> translated;
  if (given.bleu) translated = translation_of(network, opened);
  const int workers = workers_with_room(flags, computing);
  Scores scores;
  scores.score =
      train::evaluate({.network = network,
                       .weights = weights.find,
                       .data = data,
                       .samples = samples,
                       .workers = static_cast<int>(std::min<std::int64_t>(workers, minibatches)),
                       .threads = flags.threads,
                       .bind_cores = flags.cores == kOwnCores,
                       .computing = computing,
                       .progress = [&](std::int64_t done, std::int64_t all) {
                         progress.bar("evaluating " + network.name, kQuietPhase)
                             .show(static_cast<double>(done) / static_cast<double>(all), "");
                       }});
  if (translated) {
    model::use_threads(computing.device.is_cpu() ? workers * flags.threads : flags.threads);
    scores.bleu = bleu_of(network, weights, *translated,
                          {data, *opened.vocabulary, samples, network.batch}, computing, progress);
  }
  progress.end();
  if (given.as_json)
    std::cout << json_of(network.name, weights.name, flags, given, scores).dump(2) << "\n";
  else
    show(network.name, weights.name, absolute_data_name(flags.data), given, scores);
}

}  // namespace

void add_evaluate(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "evaluate", "Score trained weights on held-out data: loss, accuracy, perplexity");
  const auto flags = std::make_shared<EvaluateFlags>();
  add_trained_flags(*command, flags);
  add_setting(*command, flags, "--data", "Data to use instead of the run's, as in train");
  add_setting(*command, flags, "--held-out", "Share of the samples that is held out, as in train");
  add_setting(*command, flags, "--tokeniser", "Tokens of text, as in train [the weights']");
  add_setting(*command, flags, "--pixel-mean", "Of images:DIR, as in train [the weights']");
  add_setting(*command, flags, "--pixel-deviation", "Of images:DIR, as in train [the weights']");
  command->add_flag("--on-training", flags->on_training, "Use the samples that the run trained on");
  command->add_option("--samples", flags->samples, "Evaluate at most this many samples [all]")
      ->check(range<std::int64_t>(1, train::kMostMinibatches, kWholeNumber));
  add_setting(*command, flags, "--batch", "Samples of a minibatch [the run's]");
  add_setting(*command, flags, "--threads", "CPU threads of each worker [the run's]");
  add_setting(*command, flags, "--cores", kCoresHelp);
  add_setting(*command, flags, "--device", "cpu, cuda or cuda:1 [the run's]");
  add_setting(*command, flags, "--precision", "fp32 or bf16 [the run's]");
  add_setting(*command, flags, "--seed", "Seed of synthetic data [the run's]");
  command->add_flag("--bleu", flags->bleu,
                    "Also translate the samples, word after word, and score the translations");
  command->add_flag("--json", flags->as_json, "Print one JSON object instead of the table");
  command->callback([flags, command] { execute(*flags, command->remaining()); });
}

}  // namespace pipedream::cli
