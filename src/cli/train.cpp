// pipedream train: trains a network, on threads of this machine or as one process under mpirun.
#include <csignal>
#include <iostream>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/loss_watch.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/spelling.h"
#include "cli/starting_point.h"
#include "cli/train_checkpoints.h"
#include "cli/train_configuration.h"
#include "cli/train_flags.h"
#include "cli/train_notes.h"
#include "cli/train_request.h"
#include "cli/train_results.h"
#include "cli/training.h"
#include "cli/under_mpirun.h"
#include "cli/watcher.h"
#include "core/checksum.h"
#include "core/error.h"
#include "core/file.h"
#include "core/log.h"
#include "core/machine.h"
#include "core/text.h"
#include "model/device.h"
#include "plan/plan_file.h"
#include "profile/device_names.h"
#include "profile/profile_file.h"
#include "report/plan_table.h"
#include "report/training_table.h"
#include "systems/planning.h"
#include "systems/simulation.h"
#include "train/preparation.h"
#include "train/run_folder.h"
#include "train/same_start.h"
#include "train/task.h"
#include "train/together.h"

namespace pipedream::cli {
namespace {

// What flags and configurations say: the network, and where its training begins.
struct Settings {
  model::NetworkEntry entry;
  StartingPoint start;
};

// One training command in one process. Used from one thread.
class TrainCommand {
 public:
  // `world` is null if the workers are threads.
  TrainCommand(TrainFlags& flags, CLI::App& command, transport::MpiWorld* world, Settings settings);
  // Returns whether the training came to its end. If not, a signal has stopped it at a checkpoint.
  [[nodiscard]] bool run();

 private:
  // Whether this is the first process. Only it prints, reads the files whose content it sends to
  // the others, and writes results.
  [[nodiscard]] bool speaks() const { return !world_ || world_->rank() == 0; }
  [[nodiscard]] bool trains_every_system() const { return flags_.system == train::kEverySystem; }
  [[nodiscard]] train::Workers workers() const;
  void check_workers() const;
  void check_weights() const;
  void check_link() const;
  void claim_outputs();
  void check_space() const;
  [[nodiscard]] std::int64_t more_checkpoints() const;
  [[nodiscard]] Bytes optimiser_state() const;
  [[nodiscard]] train::Settings inputs() const;
  void prepare_resuming();
  void want_same_settings() const;
  [[nodiscard]] checkpoint::Manifest settings() const;
  [[nodiscard]] bool has_nothing_left() const;
  [[nodiscard]] runtime::Computing computing_for_planning() const;
  // Refers to `plan`.
  [[nodiscard]] train::PreparationCase preparation_case(
      const train::PlanRequest& plan,
      std::function<void(double, const std::string&)> progress) const;
  void prepare();
  void choose_length();
  void choose_checkpoints(const plan::Predicted& predicted);
  void choose_patience(const train::PreparedPlan& plan);
  [[nodiscard]] std::optional<train::Expectation> expectation(
      const train::PreparedPlan& plan) const;
  [[nodiscard]] report::TrainingRun train(const train::PreparedPlan& plan,
                                          train::TrainingOutcome& outcome);
  [[nodiscard]] train::TrainingOutcome run_session(const train::Session& session);
  void write_inputs(const train::PreparedPlan& plan) const;
  [[nodiscard]] std::optional<train::Metrics> open_metrics() const;
  [[nodiscard]] std::string configuration(const plan::Plan& plan) const;
  [[nodiscard]] std::string interruption(const plan::Plan& plan) const;
  void show_dry_run() const;
  void show(const report::TrainingRun& run) const;
  void show_comparison(const std::vector<report::TrainingRun>& runs) const;
  void say(const std::string& line) const {
    if (speaks() && !line.empty()) std::cerr << with_flags(line) << "\n";
  }
  void tell_notes() const;
  [[nodiscard]] Crowd crowd() const;
  void tell_machines() const;
  void tell_resumed() const;
  void want_metrics() const;
  [[nodiscard]] std::string newest_checkpoint() const;
  void tell_interrupted(const systems::Measured& measured,
                        const train::TrainingOutcome& outcome) const;

  TrainFlags& flags_;
  CLI::App& command_;
  model::NetworkEntry entry_;
  model::Network network_;
  transport::MpiWorld* world_;
  StartingPoint start_;
  train::Request request_;
  runtime::Computing computing_;
  train::Data data_;
  std::optional<train::RunFolder> folder_;  // only in the first process, with --out
  train::Preparation preparation_;
  std::optional<std::string> lost_metrics_;
};

model::Network make_network(const TrainFlags& flags, const model::NetworkEntry& entry) {
  return entry.make(model::Options(entry.options, flags.options),
                    flags.batch.value_or(entry.batch));
}

TrainCommand::TrainCommand(TrainFlags& flags, CLI::App& command, transport::MpiWorld* world,
                           Settings settings)
    : flags_(flags),
      command_(command),
      entry_(std::move(settings.entry)),
      network_(make_network(flags, entry_)),
      world_(world),
      start_(std::move(settings.start)),
      request_(request_of(flags)) {
  check_threads(flags.threads);
  computing_ = computing_for_planning();
  train::check(request_);
  check_weights();
  check_workers();
  check_checkpoint_flags(flags);
  if (speaks() && !flags.dry_run) claim_outputs();
  data_ = train::open_data(flags.data, network_, flags.seed, flags.held_out);
  if (data_.held_out == nullptr) request_.evaluate = false;
  request_.data = {absolute_data_name(flags.data), data_.training->samples()};
  prepare_resuming();
  if (speaks() && !flags.dry_run) check_space();
}

// What each process reads by itself, and all must have alike.
train::Settings TrainCommand::inputs() const {
  const auto count = [](const train::DataSet* data) {
    return counted(data == nullptr ? 0 : data->samples(), "sample", "samples");
  };
  train::Settings inputs{
      {"--data, to train on", count(data_.training.get())},
      {"--data, held out", count(data_.held_out.get())},
      {"--model", counted(model::parameter_count(network_), "parameter", "parameters")}};
  for (const auto& [name, value] : network_.facts) inputs.emplace_back("--model, " + name, value);
  if (!flags_.schedule.empty())
    inputs.emplace_back("--schedule",
                        "a file of checksum " + checksum_of(read_file(flags_.schedule)));
  return inputs;
}

void TrainCommand::prepare_resuming() {
  request_.checkpoints.run = start_.resumed ? start_.resumed->manifest.run : train::new_run_id();
  if (!start_.resumed) return;
  if (speaks()) want_same_settings();
  request_.resumed = std::move(start_.resumed);
}

checkpoint::Manifest TrainCommand::settings() const {
  return train::settings_of(network_, request_, computing_.precision);
}

// Refuses settings that would silently give another training.
void TrainCommand::want_same_settings() const {
  const checkpoint::Manifest& before = start_.resumed->manifest;
  const checkpoint::Manifest now = settings();
  train::want_same_settings(before, now, flags_.force, start_.in_place);
  for (const std::string& each : train::changed_settings(before, now)) say("--force: " + each);
}

// Whether the run to go on with has trained all that is asked for, and has written its results.
bool TrainCommand::has_nothing_left() const {
  if (!request_.resumed || !start_.in_place || !start_.has_ended) return false;
  if (!flags_.schedule.empty()) return !flags_.schedule_is_given;  // it was trained to its end
  return request_.resumed->manifest.position.samples >=
         train::samples_in_all(data_.training->samples(), network_.batch, request_.epochs,
                               request_.minibatches);
}

// The weights are compared with the network before anything is profiled.
void TrainCommand::check_weights() const {
  if (start_.resumed || request_.initial.file.empty()) return;
  (void)train::find_weights(network_, request_.initial);
  std::string fresh;
  if (!request_.initial.fresh.empty())
    fresh = ", but for tensors whose names begin with " + joined(request_.initial.fresh);
  say("beginning with the weights of " + request_.initial.file.string() + fresh);
}

void TrainCommand::check_workers() const {
  if (!world_ || !flags_.workers || *flags_.workers == world_->size()) return;
  throw BadUsage("--workers " + std::to_string(*flags_.workers) + ": mpirun started " +
                 counted(world_->size(), "process", "processes") + ", and each is one worker");
}

// The device and precision to plan for. Only the first process reads them from the files of --plan
// or --profile: the other processes need not have these files, because they receive the plan.
runtime::Computing TrainCommand::computing_for_planning() const {
  runtime::ComputingNames planned;
  if (speaks() && !flags_.plan.empty()) {
    const plan::PlanFile file = plan::read_plan(flags_.plan, network_.graph);
    planned = {file.device, file.precision};
  } else if (speaks() && !flags_.profile.empty()) {
    const profile::Profile profile = profile::read_profile(flags_.profile);
    planned = {profile::kind_of_device(profile.device), profile.precision};
  }
  return runtime::choose_computing({flags_.device, flags_.precision}, planned);
}

train::Workers TrainCommand::workers() const {
  if (world_) return {world_->size(), world_->here()};
  const int all = flags_.workers               ? *flags_.workers
                  : computing_.device.is_cpu() ? std::max(1, cores() / flags_.threads)
                                               : model::gpus_of(computing_.device);
  return {all, all};
}

void TrainCommand::claim_outputs() {
  check_picture_files(flags_);
  if (!flags_.weights_file.empty()) prepare_to_write(flags_.weights_file);
  if (trains_every_system() &&
      (!flags_.out.empty() || !flags_.weights_file.empty() || flags_.wants_any()))
    throw BadUsage(
        "--system all trains once with each system: --out, --export, --svg and --trace "
        "are for one of them");
  if (start_.folder)
    folder_.emplace(std::move(*start_.folder));
  else if (!flags_.out.empty())
    folder_.emplace(flags_.out,
                    flags_.overwrite ? train::EarlierRun::kReplace : train::EarlierRun::kRefuse);
}

// Weights and checkpoints are by far the largest files, and their sizes are known. Pictures and
// traces of long runs take some megabytes.
void TrainCommand::check_space() const {
  constexpr Bytes kPictures{16 << 20};
  const Bytes weights = model::state_bytes(network_);
  const std::int64_t checkpoints = folder_ ? more_checkpoints() : 0;
  if (folder_)
    train::want_space(
        folder_->path(),
        weights + kPictures + Bytes{checkpoints * (weights.count + optimiser_state().count)},
        checkpoints == 0 ? "the run folder"
                         : "the run folder, with " +
                               counted(checkpoints, "checkpoint", "checkpoints") + " at a time,");
  if (flags_.weights_file.empty()) return;
  const auto parent = std::filesystem::absolute(flags_.weights_file).parent_path();
  train::want_space(parent, weights, "--export " + flags_.weights_file);
}

Bytes TrainCommand::optimiser_state() const {
  return Bytes{systems::optimiser_copies(train::to_text(request_.optimiser.kind)) *
               model::state_bytes(network_).count};
}

// Returns how many checkpoints must find new room in the run folder. A resumed run has some
// already: they are removed as new ones are written, so their room is used again.
std::int64_t TrainCommand::more_checkpoints() const {
  const std::int64_t samples = data_.training->samples();
  const std::int64_t all =
      train::samples_in_all(samples, network_.batch, request_.epochs, request_.minibatches);
  const std::int64_t most =
      most_checkpoints(flags_, all / network_.batch, (all + samples - 1) / samples);
  if (most == 0) return 0;
  const auto there = static_cast<std::int64_t>(
      checkpoint::find_checkpoints(folder_->file(train::kCheckpoints)).size());
  return std::max<std::int64_t>(1, most - there);
}

// Emulated links hold messages back by the clock of this machine. Clocks of several machines cannot
// be compared.
void TrainCommand::check_link() const {
  const train::Workers all = workers();
  if (request_.link && all.here != all.count)
    throw CannotMeet(
        "--link rehearses a network on one machine, and mpirun started processes on several: leave "
        "it out");
}

train::PreparationCase TrainCommand::preparation_case(
    const train::PlanRequest& plan,
    std::function<void(double, const std::string&)> progress) const {
  return {network_, *data_.training, plan, request_, workers(), computing_, std::move(progress)};
}

void TrainCommand::prepare() {
  check_link();
  for (const std::string& note : entry_.notes) say(note);
  say(small_data_note(data_.training->samples(), network_.batch));
  say(crowd_note(crowd()));
  tell_machines();
  if (flags_.plan.empty()) tell_notes();  // before profiling, which takes a while
  std::optional<WhenInterrupted> interrupted;
  if (speaks())
    interrupted.emplace("interrupted before training began: " +
                        (request_.resumed && start_.in_place
                             ? flags_.out + " is as it was"
                             : std::string("there is nothing to keep")));
  PhaseProgress progress;
  bool told = false;
  const train::PlanRequest plan = plan_request_of(flags_);
  const train::PreparationCase of =
      preparation_case(plan, [&](double share, const std::string& phase) {
        if (!std::exchange(told, true))
          log_info("profiling " + entry_.name + " for about " +
                   brief_number(flags_.profile_seconds) + " s");
        progress.bar("profiling " + entry_.name + ", " + phase, kQuietPhase).show(share, "");
      });
  preparation_ = world_ ? train::prepare_together(of, *world_) : train::prepare(of);
  progress.end();
  if (!flags_.plan.empty()) tell_notes();  // only now it is known that the plan can be used
  for (const std::string& note : preparation_.notes) say(note);
  request_.hosts = preparation_.hosts;
}

train::TrainingOutcome TrainCommand::run_session(const train::Session& session) {
  Watcher watcher(entry_.name, session.plan().system, open_metrics());
  std::optional<WhenInterrupted> note;
  if (speaks()) note.emplace(interruption(session.plan()));
  std::optional<StopOnSignal> stop;
  if (!request_.checkpoints.folder.empty())
    stop.emplace(speaks() ? "stopping after the next update, with a checkpoint; a second signal "
                            "stops at once, without"
                          : "",
                 /*only_user_signal=*/world_ != nullptr);
  train::TrainingOutcome outcome = session.run(data_, watcher.observer());
  lost_metrics_ = watcher.lost_metrics();
  // All processes end with the same code, whatever only the first one knows.
  for (std::optional<std::string>* const failure : {&outcome.unsaved, &lost_metrics_}) {
    const std::string text = train::made_by_first(world_, [&] { return failure->value_or(""); });
    if (!text.empty()) *failure = text;
  }
  return outcome;
}

report::TrainingRun TrainCommand::train(const train::PreparedPlan& plan,
                                        train::TrainingOutcome& outcome) {
  std::optional<systems::OwnSchedule> own;
  if (!flags_.schedule.empty())
    own = systems::read_own_schedule(flags_.schedule, plan.file.plan, network_.graph);
  choose_checkpoints(plan.file.predicted);
  choose_patience(plan);
  request_.expected = expectation(plan);
  tell_resumed();
  if (request_.resumed)
    say(other_updates_note(request_.resumed->manifest, plan.file.plan, network_.graph,
                           network_.batch));
  const train::Session session(network_, plan.file, request_, own ? &*own : nullptr, world_);
  // Before training, so that a failed run has them, too; after all checks, so that a refused one
  // changes nothing in the folder.
  if (folder_) write_inputs(plan);
  say(idle_note(session.plan(), workers().count));
  outcome = run_session(session);
  report::TrainingRun run = session.report_of(outcome.measured, plan.simulated);
  if (preparation_.forgets_prediction) run.stage_memory.clear();
  return run;
}

std::string TrainCommand::configuration(const plan::Plan& plan) const {
  ModelOptions options;
  for (const auto& [name, value] : network_.options) options[name] = value;
  std::vector<std::pair<std::string, std::string>> decided{
      {"model", entry_.file.empty() ? entry_.name : entry_.file},
      {"batch", std::to_string(network_.batch)},
      {"workers", std::to_string(workers().count)},
      {"threads", std::to_string(flags_.threads)},
      {"seed", std::to_string(flags_.seed)},
      {"optimiser", train::to_text(request_.optimiser.kind)},
      {"plan", train::kPlanFile}};
  // The system as the user asked for it (perhaps `auto`), so that the configuration can be planned
  // anew. If the user gave a plan and no --system, the system of the plan.
  const bool asked = flags_.plan.empty() || command_.get_option("--system")->count() > 0;
  decided.emplace_back("system", asked ? flags_.system : plan.system);
  if (preparation_.profile) decided.emplace_back("profile", train::kProfileFile);
  if (!flags_.cluster.empty()) decided.emplace_back("cluster", train::kClusterFile);
  if (const auto every = request_.checkpoints.times.every)
    decided.emplace_back("checkpoint-every", std::to_string(*every));
  return configuration_text(command_, options, decided);
}

void TrainCommand::write_inputs(const train::PreparedPlan& plan) const {
  std::map<std::string, std::string> files{
      {train::kConfigurationFile, configuration(plan.file.plan)},
      {train::kPlanFile, plan::to_json(plan.file, network_.graph)}};
  if (preparation_.profile) files[train::kProfileFile] = profile::to_json(*preparation_.profile);
  if (!flags_.cluster.empty()) files[train::kClusterFile] = read_file(flags_.cluster);
  folder_->begin(files);
  if (!request_.checkpoints.folder.empty()) folder_->prepare_checkpoints();
}

std::optional<train::Metrics> TrainCommand::open_metrics() const {
  if (!folder_) return std::nullopt;
  const std::filesystem::path file = folder_->file(train::kMetricsFile);
  if (!request_.resumed) return train::Metrics(file);
  const checkpoint::Manifest& before = request_.resumed->manifest;
  const checkpoint::Manifest now = settings();
  // Lines that count differently are no beginning of this run's.
  const bool goes_on = !train::counts_steps_differently(before, now);
  return train::Metrics(file, goes_on ? start_.run / train::kMetricsFile : "",
                        train::resumed_position(before, now));
}

void TrainCommand::choose_checkpoints(const plan::Predicted& predicted) {
  train::CheckpointRequest& wanted = request_.checkpoints;
  wanted.keep = flags_.keep.value_or(wanted.keep);
  if (!wants_checkpoints(flags_)) return;
  wanted.folder = std::filesystem::path(flags_.out) / train::kCheckpoints;
  wanted.times = checkpoint_times(flags_, predicted, network_.batch);
  if (checkpoint_interval(flags_.checkpoint_every).time)
    say("a checkpoint every " + counted(*wanted.times.every, "minibatch", "minibatches") +
        ", which take about " + flags_.checkpoint_every);
  say(drain_warning(wanted.times, predicted));
}

// The line that is printed if a signal ends the training: it says which files are left.
std::string TrainCommand::interruption(const plan::Plan& plan) const {
  const bool keeps_earlier = request_.resumed && start_.in_place;
  return "interrupted while training " + entry_.name + " with " + plan.system +
         (trains_every_system() ? ": nothing is kept"
          : flags_.out.empty()  ? ": nothing is kept (--out FOLDER keeps checkpoints)"
          : request_.checkpoints.folder.empty() && keeps_earlier
              ? ": " + flags_.out + " keeps its earlier checkpoints; what was trained since is lost"
          : request_.checkpoints.folder.empty()
              ? ": " + flags_.out + " keeps configuration, plan and metrics; the weights are lost"
              : ": " + flags_.out + " keeps its checkpoints; --resume " + flags_.out +
                    " goes on from the newest");
}

void TrainCommand::tell_notes() const {
  for (const std::string& note : flags_.notes) say(note);
}

// Only the first process has a simulation, so it chooses for all.
void TrainCommand::choose_patience(const train::PreparedPlan& plan) {
  if (flags_.patience) return;
  const std::string seconds = train::made_by_first(world_, [&] {
    const double share = std::min(1.0, static_cast<double>(crowd().room) / crowd().claims());
    return exact_number(train::default_patience(plan.file, plan.simulated, share));
  });
  request_.patience = std::stod(seconds);
}

// What the progress compares the training with. Only the first process has a simulation.
std::optional<train::Expectation> TrainCommand::expectation(const train::PreparedPlan& plan) const {
  if (!plan.simulated || !preparation_.cluster || preparation_.forgets_prediction)
    return std::nullopt;
  std::vector<std::string> hosts;
  for (int rank = 0; world_ != nullptr && rank < world_->size(); ++rank)
    hosts.push_back(world_->host_name(rank));
  return train::expectation(plan.file.plan, *plan.simulated, network_.batch, *preparation_.cluster,
                            hosts);
}

Crowd TrainCommand::crowd() const {
  const bool on_cpu = computing_.device.is_cpu();
  return {.workers = workers().here,
          .threads = flags_.threads,
          .on_cpu = on_cpu,
          .room = on_cpu ? cores() : model::gpus_of(computing_.device)};
}

// Warns if processes run on several machines: without a cluster file, a new plan assumes one
// machine.
void TrainCommand::tell_machines() const {
  const train::Workers all = workers();
  if (all.here == all.count || !flags_.cluster.empty() || !flags_.plan.empty()) return;
  say("mpirun started processes on several machines, and without a file the plan takes them to be "
      "on one: say with --cluster what joins them ('pipedream cluster probe' measures it)");
}

void TrainCommand::tell_resumed() const {
  if (!request_.resumed) return;
  for (const checkpoint::Skipped& each : request_.resumed->skipped)
    say("passed over: " + each.damage.why);
  const checkpoint::Position at = train::resumed_position(request_.resumed->manifest, settings());
  say("going on from " + request_.resumed->path.string() + ", after " +
      counted(at.step, "minibatch", "minibatches"));
}

void TrainCommand::show(const report::TrainingRun& run) const {
  if (flags_.as_json)
    std::cout << report::training_json(run).dump(2) << "\n";
  else
    std::cout << with_flags(report::training_table(run));
}

// Chooses how many minibatches each system trains if all systems are trained: enough that filling
// and draining the pipeline has little influence, and a multiple of the number of workers, so that
// every replica has the same number.
void TrainCommand::choose_length() {
  constexpr std::int64_t kFewest = 20;
  if (!flags_.each_system || flags_.minibatches || flags_.epochs) return;
  double slowest = 0;  // seconds per minibatch
  for (const train::PreparedPlan& plan : preparation_.plans)
    slowest = std::max(slowest, plan.file.predicted.seconds_per_minibatch);
  const std::int64_t epoch = data_.training->samples() / network_.batch;
  const double wanted = std::min(static_cast<double>(epoch), flags_.each_system->count() / slowest);
  const std::int64_t together = workers().count;
  const std::int64_t rounds = std::max(kFewest, static_cast<std::int64_t>(wanted)) / together;
  request_.minibatches = std::max<std::int64_t>(1, rounds) * together;
  say(std::to_string(*request_.minibatches) +
      " minibatches with each system (--minibatches says how many)");
}

void TrainCommand::show_comparison(const std::vector<report::TrainingRun>& runs) const {
  const auto& [refused, automatic] = std::tie(preparation_.refused, preparation_.automatic);
  if (flags_.as_json)
    std::cout << with_flags(report::training_comparison_json(runs, refused, automatic).dump(2))
              << "\n";
  else
    std::cout << with_flags(report::training_comparison_table(runs, refused, automatic));
}

// What a training would begin with.
void TrainCommand::show_dry_run() const {
  if (!speaks()) return;
  const std::int64_t held_out = data_.held_out == nullptr ? 0 : data_.held_out->samples();
  std::cout << entry_.name << ": "
            << counted(model::parameter_count(network_), "parameter", "parameters")
            << "; samples to train on: " << data_.training->samples() << ", held out: " << held_out
            << "; samples of a minibatch: " << network_.batch << "; nothing was trained\n";
}

bool TrainCommand::run() {
  if (world_) train::want_same_inputs(*world_, inputs());
  if (flags_.dry_run) {
    check_link();
    train::check_preparation(preparation_case(plan_request_of(flags_), {}));
    show_dry_run();
    return true;
  }
  if (has_nothing_left()) {
    if (!flags_.weights_file.empty())
      throw CannotMeet("--export: " + flags_.out +
                       " has nothing left to train; 'pipedream checkpoint " + flags_.out +
                       " --export " + flags_.weights_file + "' writes its weights");
    say(flags_.out + " has trained all that it was asked to, and its results are there; --epochs " +
        "or --minibatches asks for more");
    return true;
  }
  if (flags_.schedule.empty()) train::want_no_less(request_, settings());
  prepare();
  choose_length();
  if (speaks() && !flags_.as_json && preparation_.choice)
    std::cout << with_flags(report::candidate_table(*preparation_.choice, *preparation_.profile))
              << "\n"
              << std::flush;
  std::vector<report::TrainingRun> runs;
  for (const train::PreparedPlan& plan : preparation_.plans) {
    train::TrainingOutcome outcome;
    if (trains_every_system())
      say("system " + std::to_string(runs.size() + 1) + " of " +
          std::to_string(preparation_.plans.size()) + ": " + name_of(plan.file.plan));
    runs.push_back(train(plan, outcome));
    if (outcome.interrupted) {
      tell_interrupted(runs.back().measured, outcome);
      want_metrics();
      return false;
    }
    if (trains_every_system()) continue;
    // Files are written first. If stdout is a closed pipe, printing fails, and nothing is lost.
    std::string unwritten;
    if (speaks()) {
      unwritten = write_results(flags_, folder_ ? &*folder_ : nullptr, runs.back(), outcome,
                                model::metadata_of(network_, data_.facts));
      show(runs.back());
    }
    if (outcome.unsaved)
      unwritten = "its last checkpoint was not written: " + *outcome.unsaved + newest_checkpoint() +
                  (unwritten.empty() ? "" : "\n  " + unwritten);
    if (!unwritten.empty()) throw IoError("the training has ended, but " + unwritten);
  }
  if (trains_every_system() && speaks()) show_comparison(runs);
  want_metrics();
  return true;
}

// The newest checkpoint that was written, for a message about one that was not.
std::string TrainCommand::newest_checkpoint() const {
  if (!speaks()) return "";
  const auto found = checkpoint::newest_sound(request_.checkpoints.folder).found;
  return found ? "; the newest one is " + found->path.string() : "";
}

void TrainCommand::want_metrics() const {
  if (lost_metrics_) throw IoError("the training has ended, but " + *lost_metrics_);
}

void TrainCommand::tell_interrupted(const systems::Measured& measured,
                                    const train::TrainingOutcome& outcome) const {
  const std::string trained = counted(measured.minibatches, "minibatch", "minibatches");
  if (outcome.unsaved)
    throw IoError((speaks() ? "stopped after " + trained : std::string("stopped")) +
                  ", but the checkpoint was not written: " + *outcome.unsaved +
                  newest_checkpoint());
  say("stopped after " + trained + ", with the checkpoint " +
      (request_.checkpoints.folder / checkpoint::folder_name(measured.minibatches)).string() +
      (world_ != nullptr ? "; 'train" : "; 'pipedream train") + " --resume " + flags_.out +
      "' goes on");
}

// A run that is repeated without a folder writes no checkpoints, whatever its configuration says.
void forget_checkpoints(TrainFlags& flags, const CLI::App& command) {
  const auto is_given = [&](const char* name) { return command.get_option(name)->count() > 0; };
  if (!is_given("--checkpoint-every")) flags.checkpoint_every.clear();
  if (!is_given("--checkpoint-at")) flags.checkpoint_at.reset();
  if (!is_given("--keep")) flags.keep.reset();
}

// Fills in what the flags leave open, from the configuration of --config or --resume.
Settings read_settings(TrainFlags& flags, CLI::App& command, transport::MpiWorld* world) {
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
    Settings settings = read_settings(flags, command, &world);
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
  const bool ended = [&] {
    if (transport::launched_by_mpirun()) return train_under_mpirun(flags, command);
    Settings settings = read_settings(flags, command, nullptr);
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
