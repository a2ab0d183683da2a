#include "cli/train_flags.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>

#include "cli/flags.h"
#include "core/document.h"
#include "core/error.h"
#include "core/file.h"
#include "core/nearest.h"

namespace pipedream::cli {
namespace {

constexpr char kFormat[] = "pipedream-training";
constexpr int kVersion = 1;
constexpr double kMostPatience = 1e7;

// Where results go, and what is not a setting.
const std::set<std::string>& not_settings() {
  static const std::set<std::string> names{"help", "config", "out",  "export",
                                           "json", "svg",    "trace"};
  return names;
}

void add_length_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  const auto count = range<std::int64_t>(1, std::int64_t{1} << 40, kWholeNumber);
  CLI::Option* minibatches =
      command.add_option("--minibatches", flags->minibatches, "How many to train")->check(count);
  command.add_option("--epochs", flags->epochs, "Passes over the training data [1]")
      ->check(count)
      ->excludes(minibatches);
  command.add_option("--data", flags->data,
                     "synthetic, idx:DIR (MNIST's files) or text:FILE [synthetic]");
  command.add_flag("--no-evaluation", flags->no_evaluation,
                   "Do not look at held-out data after each epoch");
}

void add_optimiser_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  const auto share = range<double>(0, 1, "a number");
  command
      .add_option("--learning-rate", flags->learning_rate,
                  "How far an update goes [0.01; adam and adamw: 0.001]")
      ->check(range<double>(0, 1e6, "a number"));
  command.add_option("--momentum", flags->momentum, "Of the optimiser momentum [0.9]")
      ->check(share);
  command
      .add_option("--weight-decay", flags->weight_decay,
                  "How strongly an update pulls weights towards 0 [0]")
      ->check(range<double>(0, 1e6, "a number"));
  command
      .add_option("--clip", flags->clip,
                  "The largest norm of all gradients of an update (systems that flush)")
      ->check(check_positive);
  add_weight_flags(command, flags);
}

void add_machine_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  command
      .add_option("--workers", flags->workers,
                  "Threads that train together [cores / --threads]; under mpirun its processes do")
      ->check(range<int>(1, 4096, kWholeNumber));
  command.add_option("--threads", flags->threads, "That each worker computes with [1]")
      ->check(range<int>(1, 4096, kWholeNumber));
  command.add_option("--seed", flags->seed, "Of weights, data and dropout [0]")
      ->check(range<std::int64_t>(0, std::int64_t{1} << 53, kWholeNumber));
  command.add_option("--link", flags->link,
                     "Rehearse on links of this speed between workers, e.g. 100Mbit/s");
  command
      .add_option("--patience", flags->patience,
                  "Seconds after which a worker that is waited for counts as lost [600]")
      ->check(range<double>(0.001, kMostPatience, "a number"));
  command
      .add_option("--profile-seconds", flags->profile_seconds,
                  "Profile the model for about this long, where no --profile is given [5]")
      ->check(range<double>(0.1, 1e6, "a number"));
}

void add_result_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  command.add_option("--config", flags->config,
                     "Repeat what this configuration says; flags that are given win");
  command.add_option("--out", flags->out,
                     "Folder for configuration, metrics, timeline and weights");
  command.add_option("--export", flags->weights_file, "Write the final weights here (safetensors)")
      ->check(check_output_name);
  add_picture_flags(command, flags);
  command.add_flag("--json", flags->as_json, "Print one JSON object instead of the table");
}

std::set<const CLI::Option*> given_options(const CLI::App& command) {
  std::set<const CLI::Option*> given;
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0) given.insert(option);
  return given;
}

// Whether it was given, or one that excludes it.
bool is_settled(const CLI::Option& option, const std::set<const CLI::Option*>& given) {
  const auto excluded = option.get_excludes();
  return given.contains(&option) ||
         std::any_of(excluded.begin(), excluded.end(),
                     [&](const CLI::Option* other) { return given.contains(other); });
}

std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? "" : option.get_lnames().front();
}

// The setting with its path changed, if it is one.
template <class Change>
std::string with_path(const std::string& name, const std::string& text, const Change& change) {
  static const std::set<std::string> paths{"plan", "schedule", "profile", "cluster"};
  if (paths.contains(name)) return change(text).string();
  const auto colon = name == "data" ? text.find(':') : text.npos;  // idx:DIR
  if (colon == text.npos) return text;
  return text.substr(0, colon + 1) + change(text.substr(colon + 1)).string();
}

}  // namespace

void add_train_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  command.add_option("--model", flags->model, "Network to train ('pipedream models' lists them)");
  add_length_flags(command, flags);
  add_optimiser_flags(command, flags);
  add_machine_flags(command, flags);
  add_result_flags(command, flags);
  add_input_flags(command, flags, /*required=*/false);
  command.get_option("--batch")->description(
      "Samples of a minibatch on one input replica [the model's own; 'pipedream models']");
  command.get_option("--exchange")->description("How replicas average gradients: ring [ring]");
  CLI::Option* plan = command.add_option("--plan", flags->plan, "Train with this plan (JSON)");
  add_system_flag(command, flags, /*all=*/true)->excludes(plan);
  for (CLI::Option* option : add_planning_flags(command, flags)) option->excludes(plan);
  command
      .add_option("--schedule", flags->schedule,
                  "Train with a schedule of your own instead of the system's (text)")
      ->excludes("--minibatches")
      ->excludes("--epochs")
      ->excludes("--vertical-sync")
      ->excludes("--no-stash");
  allow_model_options(command);
}

std::string configuration_text(const CLI::App& command, const ModelOptions& options,
                               const std::vector<std::pair<std::string, std::string>>& resolved) {
  std::map<std::string, std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = name_of(*option);
    if (name.empty() || option->count() == 0 || not_settings().contains(name)) continue;
    std::string text;
    for (const std::string& part : option->reduced_results())
      text += (text.empty() ? "" : ",") + part;
    flags[name] = with_path(name, text, [](const std::filesystem::path& path) {
      return path.empty() ? path : std::filesystem::absolute(path);
    });
  }
  for (const auto& [name, value] : resolved) {
    flags[name] = value;
    for (const CLI::Option* other : command.get_option("--" + name)->get_excludes())
      flags.erase(name_of(*other));
  }
  const nlohmann::ordered_json json{
      {"format", kFormat}, {"version", kVersion}, {"flags", flags}, {"model_options", options}};
  return json.dump(2) + "\n";
}

void read_configuration(const std::string& file, CLI::App& command, ModelOptions& options) {
  const Node document = parse_json(read_file(file), file);
  document.expect_format(kFormat, kVersion);
  document.expect_keys({"format", "version", "flags", "model_options"});
  // Beforehand: the file itself may hold settings that exclude each other, a plan and how it was
  // made.
  const auto given = given_options(command);
  const auto beside_it = [&](const std::filesystem::path& path) {
    return path.empty() ? path : std::filesystem::path(file).parent_path() / path;
  };
  for (const auto& [name, value] : document.at("flags").members()) {
    CLI::Option* option = command.get_option_no_throw("--" + name);
    if (option == nullptr || not_settings().contains(name))
      value.fail("train has no setting --" + name + suggestion("--" + name, flag_names(command)));
    if (is_settled(*option, given)) continue;
    try {
      option->add_result(with_path(name, value.text(), beside_it));
      option->run_callback();
    } catch (const CLI::ParseError& error) {
      value.fail(error.what());
    }
  }
  for (const auto& [name, value] : document.at("model_options").members())
    options.emplace(name, value.text());
}

std::optional<Bandwidth> link_of(const TrainFlags& flags) {
  if (flags.link.empty()) return std::nullopt;
  return parse_bandwidth(flags.link);
}

train::OptimiserOptions optimiser_options(const TrainFlags& flags) {
  train::OptimiserOptions options;
  if (!flags.optimiser.empty()) options.kind = train::optimiser_kind(flags.optimiser);
  const bool adaptive =
      options.kind == train::OptimiserKind::kAdam || options.kind == train::OptimiserKind::kAdamW;
  options.learning_rate = flags.learning_rate.value_or(adaptive ? 0.001 : 0.01);
  options.momentum = flags.momentum;
  options.weight_decay = flags.weight_decay;
  return options;
}

}  // namespace pipedream::cli
