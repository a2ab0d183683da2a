// pipedream train: trains a network, on threads of this machine or as one process under mpirun.
#include <csignal>
#include <iostream>
#include <utility>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/loss_watch.h"
#include "cli/run.h"
#include "cli/train_checkpoints.h"
#include "cli/train_command.h"
#include "cli/train_configuration.h"
#include "cli/training.h"
#include "cli/under_mpirun.h"
#include "core/error.h"
#include "train/same_start.h"

namespace pipedream::cli {
namespace {

// A run that is repeated without a folder writes no checkpoints, whatever its configuration says.
void forget_checkpoints(TrainFlags& flags, const CLI::App& command) {
  const auto is_given = [&](const char* name) { return command.get_option(name)->count() > 0; };
  if (!is_given("--checkpoint-every")) flags.checkpoint_every.clear();
  if (!is_given("--checkpoint-at")) flags.checkpoint_at.reset();
  if (!is_given("--keep")) flags.keep.reset();
}

// Fills in what the flags leave open, from the configuration of --config or --resume.
TrainSettings read_settings(TrainFlags& flags, CLI::App& command, transport::MpiWorld* world) {
  StartingPoint start = starting_point(flags, world);
  std::optional<Configuration> configuration;
  if (!start.configuration.empty()) configuration.emplace(start.configuration, start.file, command);
  if (flags.model.empty() && configuration) flags.model = configuration->model();
  if (flags.model.empty()) {
    (void)model_options(command.remaining(), {},
                        flag_names(command));  // throws for a misspelt flag
    throw BadUsage(command.get_name() + ": wanted --model NAME ('pipedream models' lists them)");
  }
  model::NetworkEntry entry = network_named(flags.model);
  flags.options = model_options(command.remaining(), entry.options, flag_names(command));
  want_set_options(flags, entry.options, command);
  for (const auto& [name, value] : flags.options) flags.origins.erase(name);  // flags win
  ModelOptions set = flags.set_options;
  flags.options.merge(set);
  if (configuration) configuration->want_options(entry.options, command);
  flags.schedule_is_given = !flags.schedule.empty();
  if (configuration) {
    const bool has_folder = !flags.out.empty() || start.resumed;
    configuration->fill_in(command, flags, start.resumed ? Use::kResume : Use::kRepeat);
    if (!has_folder) forget_checkpoints(flags, command);
  }
  return {std::move(entry), std::move(start)};
}

// Returns what TrainCommand::run() returns.
bool train_under_mpirun(TrainFlags& flags, CLI::App& command) {
  StopOnSignal::catch_user_signal();  // mpirun may pass it on before training begins
  transport::MpiWorld world;
  const LossWatch watch(world);
  return run_under_mpirun(world, [&] {
    train::Identity own = train::this_program();
    own.flags = shared_flags(command);
    train::want_same_start(world, transport::this_launcher(), own);
    if (world.rank() == 0)
      std::cerr << train::start_text(world, transport::this_launcher()) << "\n";
    TrainSettings settings = read_settings(flags, command, &world);
    if (!wants_checkpoints(flags)) StopOnSignal::end_by_user_signal();
    return TrainCommand(flags, command, &world, std::move(settings)).run();
  });
}

}  // namespace

void train_network(TrainFlags& flags, CLI::App& command) {
  // If the reader of our output goes away (`| head`), the training continues.
  (void)std::signal(SIGPIPE, SIG_IGN);
  // A limit on the size of files (ulimit -f) does not end the training. A failed write is reported
  // as an error.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  take_over_settings(command, flags);
  const bool ended = [&] {
    if (transport::launched_by_mpirun()) return train_under_mpirun(flags, command);
    TrainSettings settings = read_settings(flags, command, nullptr);
    return TrainCommand(flags, command, nullptr, std::move(settings)).run();
  }();
  if (!ended) throw EndedWith{kInterrupted};
}

void tell_refusal(const CLI::App& command, const std::string& why) {
  const transport::Launcher& launcher = transport::this_launcher();
  const bool trains = command.get_name() == "train" ||
                      (command.get_name() == "compare" && command.get_option("--run")->count() > 0);
  if (!trains || launcher.start != transport::Start::kMpi || launcher.size == 1) return;
  transport::MpiWorld world;
  train::Identity own = train::this_program();
  own.refusal = why;
  train::want_same_start(world, launcher, own);
}

void add_train(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "train", "Train a network, on threads of this machine or on the processes of mpirun");
  const auto flags = std::make_shared<TrainFlags>();
  add_train_flags(*command, flags);
  command->callback([flags, command] { train_network(*flags, *command); });
}

}  // namespace pipedream::cli
