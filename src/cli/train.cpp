// pipedream train: trains a network, on threads of this machine or as one process under mpirun.
#include <iostream>
#include <map>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/own_schedule.h"
#include "cli/run_folder.h"
#include "cli/spelling.h"
#include "cli/train_configuration.h"
#include "cli/train_flags.h"
#include "cli/train_plans.h"
#include "cli/training.h"
#include "cli/watcher.h"
#include "core/error.h"
#include "core/file.h"
#include "core/machine.h"
#include "core/text.h"
#include "model/device.h"
#include "model/weights_file.h"
#include "plan/plan_file.h"
#include "profile/device_names.h"
#include "profile/profile_file.h"
#include "report/plan_table.h"
#include "report/table.h"
#include "report/training_table.h"
#include "runtime/devices.h"
#include "runtime/failure.h"
#include "train/trainer.h"

namespace pipedream::cli {
namespace {

// Files of a run folder that its configuration names.
constexpr char kPlanFile[] = "plan.json";
constexpr char kProfileFile[] = "profile.json";
constexpr char kClusterFile[] = "cluster.toml";

// One training command in one process.
class Training {
 public:
  // `world`: null where workers are threads.
  Training(TrainFlags& flags, CLI::App& command, transport::MpiWorld* world);
  void run();

 private:
  [[nodiscard]] bool speaks() const { return !world_ || world_->rank() == 0; }
  [[nodiscard]] int workers() const;
  [[nodiscard]] int workers_here() const;  // on this machine
  void use_computing(const runtime::ComputingNames& planned);
  void choose_computing();
  void check_outputs() const;
  [[nodiscard]] bool spans_machines() const;
  void check_network() const;
  [[nodiscard]] Preparation prepare() const;
  [[nodiscard]] train::Recipe recipe_of(const OwnSchedule* own) const;
  [[nodiscard]] runtime::Job job_of(const plan::Plan& plan, const train::Recipe& recipe) const;
  [[nodiscard]] train::Outcome outcome_of(const train::Recipe& recipe, const runtime::Job& job);
  [[nodiscard]] report::TrainingRun train(const Prepared& prepared, train::Outcome& outcome);
  void show(const report::TrainingRun& run, const train::Outcome& outcome) const;
  void tell_idle(const plan::Plan& plan) const;
  void write_inputs(const Prepared& prepared) const;
  void write_results(const report::TrainingRun& run, const train::Outcome& outcome) const;
  [[nodiscard]] std::string configuration(const plan::Plan& plan) const;
  [[nodiscard]] std::string interruption(const plan::Plan& plan) const;
  void tell_notes() const;
  void tell_crowd() const;
  void tell_machines() const;
  void tell_turn(std::size_t done, const plan::Plan& plan) const;
  void choose_length();

  TrainFlags& flags_;
  CLI::App& command_;
  const model::ZooEntry& entry_;
  model::Network network_;
  transport::MpiWorld* world_;
  train::OptimiserOptions optimiser_;
  runtime::Computing computing_;
  train::Data data_;
  Preparation preparation_;
};

model::Network make_network(const TrainFlags& flags, const model::ZooEntry& entry) {
  return entry.make(model::Options(entry.options, flags.options),
                    flags.batch.value_or(entry.batch));
}

Training::Training(TrainFlags& flags, CLI::App& command, transport::MpiWorld* world)
    : flags_(flags),
      command_(command),
      entry_(model::zoo_entry(flags.model)),
      network_(make_network(flags, entry_)),
      world_(world),
      optimiser_(optimiser_options(flags)) {
  check_threads(flags.threads);
  choose_computing();
  (void)train::make_optimiser(optimiser_);  // says what is wrong with its numbers
  if (world_ && flags.workers && *flags.workers != world_->size())
    throw BadUsage("--workers " + std::to_string(*flags.workers) + ": mpirun started " +
                   std::to_string(world_->size()) +
                   (world_->size() == 1 ? " process" : " processes") + ", and each is one worker");
  if (speaks()) check_outputs();
  data_ = train::open_data(flags.data, network_, flags.seed);
}

void Training::use_computing(const runtime::ComputingNames& planned) {
  computing_ = runtime::choose_computing({flags_.device, flags_.precision}, planned);
}

// For planning. The files that say it need be there for the first process alone: the others hear it
// with the plan.
void Training::choose_computing() {
  runtime::ComputingNames planned;
  if (speaks() && !flags_.plan.empty()) {
    const plan::PlanFile file = plan::read_plan(flags_.plan, network_.graph);
    planned = {file.device, file.precision};
  } else if (speaks() && !flags_.profile.empty()) {
    const profile::Profile profile = profile::read_profile(flags_.profile);
    planned = {profile::kind_of_device(profile.device), profile.precision};
  }
  use_computing(planned);
}

int Training::workers() const {
  if (world_) return world_->size();
  if (flags_.workers) return *flags_.workers;
  return computing_.device.is_cpu() ? std::max(1, cores() / flags_.threads)
                                    : model::gpus_of(computing_.device);
}

int Training::workers_here() const { return world_ ? world_->here() : workers(); }

void Training::check_outputs() const {
  check_picture_files(flags_);
  if (!flags_.weights_file.empty()) prepare_to_write(flags_.weights_file);
  if (flags_.system == "all" &&
      (!flags_.out.empty() || !flags_.weights_file.empty() || flags_.wants_any()))
    throw BadUsage(
        "--system all trains once with each system: --out, --export, --svg and --trace "
        "are for one of them");
  if (!flags_.out.empty()) make_run_folder(flags_.out);
}

bool Training::spans_machines() const { return workers_here() != workers(); }

// What can be planned and simulated, but not trained here.
void Training::check_network() const {
  // Messages are held back by the clock of this machine.
  if (link_of(flags_) && spans_machines())
    throw CannotMeet(
        "--link rehearses a network on one machine, and mpirun started processes on several: leave "
        "it out");
}

train::Recipe Training::recipe_of(const OwnSchedule* own) const {
  train::Recipe recipe{.batch = network_.batch,
                       .epochs = flags_.epochs.value_or(1),
                       .minibatches = flags_.minibatches,
                       .evaluate = !flags_.no_evaluation};
  take_over(flags_, recipe.weights);
  if (own != nullptr) {
    recipe.schedule = &own->schedule;
    recipe.extent = own->extent;
  }
  return recipe;
}

runtime::Job Training::job_of(const plan::Plan& plan, const train::Recipe& recipe) const {
  runtime::Job job{.network = network_, .plan = plan, .seed = flags_.seed};
  job.threads = flags_.threads;
  job.precision = computing_.precision;
  if (!computing_.device.is_cpu())
    job.devices = runtime::devices_of_workers(
        computing_.device,
        world_ ? world_->hosts() : std::vector<int>(static_cast<std::size_t>(workers())));
  job.patience = std::chrono::milliseconds(static_cast<std::int64_t>(flags_.patience * 1000));
  job.averaging.way.exchange = wishes_of(flags_).exchange.value_or(cost::Exchange::kRing);
  // Threads sum as the machines that they stand for would.
  job.averaging.way.host_of = world_ ? world_->hosts() : preparation_.hosts;
  job.make_optimiser = [this] { return train::make_optimiser(optimiser_); };
  job.clip_norm = flags_.clip;
  job.keep_timeline = flags_.wants_any() || !flags_.out.empty();
  job.stall_folder = flags_.out.empty() ? std::filesystem::temp_directory_path() / "pipedream-stall"
                                        : std::filesystem::path(flags_.out);
  job.replicas = train::check_recipe(recipe, job);
  return job;
}

train::Outcome Training::outcome_of(const train::Recipe& recipe, const runtime::Job& job) {
  std::optional<std::filesystem::path> metrics;
  if (speaks() && !flags_.out.empty())
    metrics = std::filesystem::path(flags_.out) / "metrics.jsonl";
  Watcher watcher("training " + entry_.name + " with " + job.plan.system, metrics);
  std::optional<transport::Links> links;
  if (const auto link = link_of(flags_))
    links = transport::Links{.bytes_per_second = link->bytes_per_second};
  std::optional<WhenInterrupted> note;
  if (speaks()) note.emplace(interruption(job.plan));
  if (!world_) return train::train_on_threads(recipe, job, data_, watcher.observer(), links);
  return train::train_as_process(*world_, recipe, job, data_, watcher.observer(), links)
      .value_or(train::Outcome{});
}

report::TrainingRun Training::train(const Prepared& prepared, train::Outcome& outcome) {
  report::TrainingRun run{entry_.name,        prepared.file.plan,
                          network_.batch,     prepared.file.predicted.samples_per_second,
                          prepared.simulated, {}};
  // Of what the plan was made for, and with the system's own schedule.
  if (!flags_.forgets_prediction && flags_.schedule.empty())
    for (const auto& stage : prepared.file.predicted.stages)
      run.stage_memory.push_back(stage.memory);
  std::optional<OwnSchedule> own;
  if (!flags_.schedule.empty()) {
    own = read_own_schedule(flags_.schedule, run.plan, network_.graph);
    run.plan.microbatches = own->extent.microbatches;
    run.predicted.reset();  // that is the system's own schedule
  }
  const train::Recipe recipe = recipe_of(own ? &*own : nullptr);
  use_computing({prepared.file.device, prepared.file.precision});
  const runtime::Job job = job_of(run.plan, recipe);
  if (speaks()) tell_idle(run.plan);
  if (speaks() && !flags_.out.empty()) write_inputs(prepared);  // a run that fails has them too
  outcome = outcome_of(recipe, job);
  run.measured = outcome.measured;
  return run;
}

std::string Training::configuration(const plan::Plan& plan) const {
  ModelOptions options;
  const model::Options resolved(entry_.options, flags_.options);
  for (const model::OptionSpec& spec : entry_.options)
    options[spec.name] = exact_number(resolved.real(spec.name));
  std::vector<std::pair<std::string, std::string>> decided{
      {"model", entry_.name},
      {"batch", std::to_string(network_.batch)},
      {"workers", std::to_string(workers())},
      {"threads", std::to_string(flags_.threads)},
      {"seed", std::to_string(flags_.seed)},
      {"optimiser", train::to_text(optimiser_.kind)},
      {"plan", kPlanFile}};
  // As asked, so that the configuration can be planned anew; a plan that was given asks for its
  // own.
  const bool asked = flags_.plan.empty() || command_.get_option("--system")->count() > 0;
  decided.emplace_back("system", asked ? flags_.system : plan.system);
  if (preparation_.profile) decided.emplace_back("profile", kProfileFile);
  if (!flags_.cluster.empty()) decided.emplace_back("cluster", kClusterFile);
  return configuration_text(command_, options, decided);
}

// What is left when somebody ends the training.
std::string Training::interruption(const plan::Plan& plan) const {
  return "interrupted while training " + entry_.name + " with " + plan.system +
         (flags_.system == "all" ? ": nothing is kept"
          : flags_.out.empty()
              ? ": nothing is kept (--out FOLDER keeps how it went)"
              : ": " + flags_.out + " keeps configuration, plan and metrics; the weights are lost");
}

model::NamedTensors all_of(const runtime::Weights& weights) {
  model::NamedTensors all = weights.parameters;
  all.insert(weights.buffers.begin(), weights.buffers.end());
  return all;
}

Preparation Training::prepare() const {
  check_network();
  tell_crowd();
  tell_machines();
  if (flags_.plan.empty()) tell_notes();  // before the network is profiled
  const auto check = [this](const plan::Plan& plan) {
    if (flags_.schedule.empty()) (void)job_of(plan, recipe_of(nullptr));
  };
  const PlanningTask task{flags_,         network_,   optimiser_, workers(),
                          workers_here(), computing_, check};
  Preparation preparation = world_ ? shared_plans(task, *world_) : prepare_plans(task);
  if (!flags_.plan.empty()) tell_notes();  // what is said of a plan holds where it can be used
  return preparation;
}

void Training::tell_notes() const {
  if (!speaks()) return;
  for (const std::string& note : flags_.notes) std::cerr << note << "\n";
}

void Training::tell_crowd() const {
  const int here = workers_here();
  const bool on_cpu = computing_.device.is_cpu();
  const int room = on_cpu ? cores() : model::gpus_of(computing_.device);
  if (!speaks() || here * (on_cpu ? flags_.threads : 1) <= room) return;
  std::cerr << here << " workers";
  if (on_cpu)
    std::cerr << " of " << flags_.threads << (flags_.threads == 1 ? " thread" : " threads");
  std::cerr << " share " << room << (on_cpu ? " core" : " GPU") << (room == 1 ? "" : "s")
            << ": they take turns, and train slower than predicted, as if each had its own\n";
}

// A plan that is made here knows of other machines by a file only.
void Training::tell_machines() const {
  if (!speaks() || !spans_machines() || !flags_.cluster.empty() || !flags_.plan.empty()) return;
  std::cerr << "mpirun started processes on several machines, and without a file the plan takes "
               "them to be on one: say with --cluster what joins them\n";
}

void Training::tell_idle(const plan::Plan& plan) const {
  const int idle = workers() - plan::worker_count(plan);
  if (idle > 0)
    std::cerr << plan.system << " " << plan::config_text(plan) << ": " << idle << " of "
              << workers() << " workers " << (idle == 1 ? "has" : "have") << " nothing to do\n";
}

// "system 3 of 9: gpipe 1-1"
void Training::tell_turn(std::size_t done, const plan::Plan& plan) const {
  std::cerr << "system " << done + 1 << " of " << preparation_.runs.size() << ": " << plan.system
            << " " << report::short_config(plan::config_text(plan)) << "\n";
}

void Training::write_inputs(const Prepared& prepared) const {
  std::map<std::string, std::string> files{
      {"config.json", configuration(prepared.file.plan)},
      {kPlanFile, plan::to_json(prepared.file, network_.graph)}};
  if (preparation_.profile) files[kProfileFile] = profile::to_json(*preparation_.profile);
  if (!flags_.cluster.empty()) files[kClusterFile] = read_file(flags_.cluster);
  begin_run_folder(flags_.out, files);
}

void Training::write_results(const report::TrainingRun& run, const train::Outcome& outcome) const {
  const std::filesystem::path folder(flags_.out);
  const PictureFlags pictures{(folder / "timeline.svg").string(),
                              (folder / "timeline.json").string()};
  write_pictures(pictures, outcome.measured.timeline, report::training_title(run),
                 report::training_line(run));
  model::write_weights(folder / "weights.safetensors", all_of(outcome.weights));
  end_run_folder(folder, report::training_json(run).dump(2) + "\n");
}

void Training::show(const report::TrainingRun& run, const train::Outcome& outcome) const {
  if (flags_.as_json)
    std::cout << report::training_json(run).dump(2) << "\n";
  else
    std::cout << with_flags(report::training_table(run));
  write_pictures(flags_, outcome.measured.timeline, report::training_title(run),
                 report::training_line(run));
  if (!flags_.weights_file.empty()) {
    model::write_weights(flags_.weights_file, all_of(outcome.weights));
    std::cerr << "written to " << flags_.weights_file << "\n";
  }
  if (!flags_.out.empty()) write_results(run, outcome);
}

// So many that filling and draining a pipeline does not decide, and every replica has as many.
void Training::choose_length() {
  constexpr std::int64_t kFewest = 20;
  if (!flags_.each_system || flags_.minibatches || flags_.epochs) return;
  double slowest = 0;  // seconds of a minibatch
  for (const Prepared& prepared : preparation_.runs)
    slowest = std::max(slowest, prepared.file.predicted.seconds_per_minibatch);
  const std::int64_t epoch = data_.training->samples() / network_.batch;
  const double wanted = std::min(static_cast<double>(epoch), flags_.each_system->count() / slowest);
  const std::int64_t together = workers();
  const std::int64_t rounds = std::max(kFewest, static_cast<std::int64_t>(wanted)) / together;
  flags_.minibatches = std::max<std::int64_t>(1, rounds) * together;
  if (speaks())
    std::cerr << *flags_.minibatches
              << " minibatches with each system (--minibatches says how many)\n";
}

void Training::run() {
  preparation_ = prepare();
  choose_length();
  if (speaks() && !flags_.as_json) std::cout << preparation_.table << std::flush;
  const bool all = flags_.system == "all";
  std::vector<report::TrainingRun> runs;
  for (const Prepared& prepared : preparation_.runs) {
    train::Outcome outcome;
    if (all && speaks()) tell_turn(runs.size(), prepared.file.plan);
    runs.push_back(train(prepared, outcome));
    if (!all && speaks()) show(runs.back(), outcome);
  }
  if (!all || !speaks()) return;
  if (flags_.as_json)
    std::cout << with_flags(report::training_comparison_json(runs, preparation_.refused,
                                                             preparation_.automatic)
                                .dump(2))
              << "\n";
  else
    std::cout << with_flags(report::training_comparison_table(runs, preparation_.refused,
                                                              preparation_.automatic));
}

// Ends all processes with the failure that is being handled, which another process may have had.
[[noreturn]] void fail_together(transport::MpiWorld& world) {
  try {
    try {
      throw;
    } catch (const transport::Aborted& aborted) {
      runtime::throw_reason(aborted.what());
    }
  } catch (const std::exception& failure) {
    world.abort(runtime::to_reason(std::current_exception()));
    const int rank = world.rank();
    // The first process speaks for all, unless it is too busy to hear of it before it is ended.
    if (!world.leave() && rank > 0)
      std::cerr << "pipedream: worker " << rank << ": " << failure.what() << std::endl;
    throw;
  }
}

void train_under_mpirun(TrainFlags& flags, CLI::App& command) {
  transport::MpiWorld world;
  try {
    Training(flags, command, &world).run();
  } catch (...) {
    fail_together(world);
  }
}

}  // namespace

void train_network(TrainFlags& flags, CLI::App& command) {
  std::optional<Configuration> configuration;
  if (!flags.config.empty()) configuration.emplace(flags.config, command);
  if (flags.model.empty() && configuration) flags.model = configuration->model();
  if (flags.model.empty()) {
    (void)model_options(command.remaining(), {}, flag_names(command));  // names what was misspelt
    throw BadUsage(command.get_name() + ": wanted --model NAME ('pipedream models' lists them)");
  }
  const model::ZooEntry& entry = model::zoo_entry(flags.model);
  flags.options = model_options(command.remaining(), entry.options, flag_names(command));
  if (configuration) configuration->fill_in(command, flags);
  if (transport::launched_by_mpirun())
    train_under_mpirun(flags, command);
  else
    Training(flags, command, nullptr).run();
}

void add_train(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "train", "Train a network, on threads of this machine or on the processes of mpirun");
  const auto flags = std::make_shared<TrainFlags>();
  add_train_flags(*command, flags);
  command->callback([flags, command] { train_network(*flags, *command); });
}

}  // namespace pipedream::cli
