// pipedream profile: measures a model layer by layer, or shows a profile that exists.
#include <iostream>
#include <optional>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/network_flags.h"
#include "cli/progress.h"
#include "cli/spelling.h"
#include "core/error.h"
#include "core/file.h"
#include "model/device.h"
#include "profile/profile_file.h"
#include "profiler/profiler.h"
#include "report/profile_table.h"
#include "train/profiling.h"
#include "train/request.h"

namespace pipedream::cli {
namespace {

constexpr std::size_t kMostRows = 60;

struct ProfileFlags {
  std::string model;
  std::string file;
  std::optional<std::int64_t> batch;
  std::string device = "cpu";
  std::string precision = "fp32";
  int threads = 1;
  int workers = 1;
  std::string cores = kOwnCores;
  std::uint64_t seed = 0;
  double seconds = 20;
  std::string optimiser = "momentum";
  std::string output;
  bool as_json = false;
  bool all = false;
};

profile::Profile measure(const ProfileFlags& flags, const std::vector<std::string>& rest,
                         const std::vector<std::string>& known) {
  const model::NetworkEntry entry = network_named(flags.model);
  for (const std::string& note : entry.notes) std::cerr << note << "\n";
  const model::Options options(entry.options, model_options(rest, entry.options, known));
  check_threads(flags.threads, flags.workers);
  const model::Network network = entry.make(options, flags.batch.value_or(entry.batch));
  const train::OptimiserKind optimiser = train::optimiser_kind(flags.optimiser);
  PhaseProgress progress;
  return train::profile_for_training(
      network,
      {.device = model::device_of_worker(model::device_named(flags.device), 0),
       .precision = model::precision_named(flags.precision),
       .threads = flags.threads,
       .seed = flags.seed,
       .budget = std::chrono::duration<double>(flags.seconds),
       .progress =
           [&](double share, const std::string& phase) {
             progress.bar("profiling " + entry.name + ", " + phase, kQuietPhase).show(share, "");
           },
       .workers = flags.workers,
       .bind_cores = flags.cores == kOwnCores},
      {.kind = optimiser});
}

void execute(const ProfileFlags& flags, const std::vector<std::string>& rest,
             const std::vector<std::string>& known) {
  if (flags.model.empty()) (void)model_options(rest, {}, known);  // throws for a misspelt flag
  if (flags.model.empty() && flags.file.empty())
    throw BadUsage("profile: wanted --model NAME to measure or --profile FILE to show");
  if (!flags.output.empty()) prepare_to_write(flags.output);
  const profile::Profile profile = flags.model.empty()
                                       ? profile::read_profile(flags.file, flags.batch)
                                       : measure(flags, rest, known);
  const std::string json = profile::to_json(profile);
  std::cout << (flags.as_json
                    ? json
                    : with_flags(report::profile_table(profile, flags.all ? SIZE_MAX : kMostRows)));
  if (flags.output.empty()) return;
  write_file_atomically(flags.output, json);
  std::cerr << "written to " << flags.output << "\n";
}

}  // namespace

void add_profile(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("profile", "Measure a model layer by layer, or show a profile");
  const auto flags = std::make_shared<ProfileFlags>();
  CLI::Option* file = command->add_option(
      "--profile", flags->file, "Profile to show instead: ours (JSON) or PipeDream's graph text");
  // Flags about measuring make no sense together with --profile, which shows an existing profile.
  const auto measuring = [&](CLI::Option* option) { option->excludes(file); };
  measuring(command->add_option(
      "--model", flags->model,
      "Network to measure: a name ('pipedream models' lists them) or a .pt2 file"));
  command->add_option("--batch", flags->batch, "Samples of one minibatch")
      ->check(range<std::int64_t>(1, kMostSamples, kWholeNumber));
  measuring(command->add_option("--device", flags->device, "cpu or cuda:0 [cpu]"));
  measuring(command->add_option("--precision", flags->precision,
                                "fp32, or bf16: products in bfloat16, weights in float [fp32]"));
  measuring(command->add_option("--threads", flags->threads, "Threads of one worker on CPU [1]")
                ->check(range<int>(1, train::kMostThreads, kWholeNumber)));
  measuring(command
                ->add_option("--workers", flags->workers,
                             "Measure in the company of so many workers on this machine [1]")
                ->check(range<int>(1, train::kMostThreads, kWholeNumber)));
  measuring(command->add_option("--cores", flags->cores, kCoresHelp)->check(check_cores));
  measuring(command->add_option("--seed", flags->seed, "Of the weights and the made-up data [0]")
                ->check(range<std::int64_t>(0, kMostSeed, kWholeNumber)));
  measuring(command->add_option("--seconds", flags->seconds, "Measure for about this long [20]")
                ->check(range<double>(0.1, 1e6, "a number")));
  measuring(command->add_option("--optimiser,--optimizer", flags->optimiser,
                                "Whose updates to time: sgd, momentum, adam or adamw [momentum]"));
  command->add_option("-o,--output", flags->output, "Write the profile to this file (JSON)")
      ->check(check_output_name);
  command->add_flag("--json", flags->as_json, "Print the profile as JSON instead of the table");
  command->add_flag("--all", flags->all, "Show all layers, however many");
  allow_model_options(*command);
  command->callback(
      [flags, command] { execute(*flags, command->remaining(), flag_names(*command)); });
}

}  // namespace pipedream::cli
