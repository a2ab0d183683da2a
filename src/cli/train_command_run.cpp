// The planning and the training of a training command, and what it prints.
#include <iostream>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/interrupt.h"
#include "cli/page_run.h"
#include "cli/pictures.h"
#include "cli/progress.h"
#include "cli/spelling.h"
#include "cli/train_checkpoints.h"
#include "cli/train_command.h"
#include "cli/train_configuration.h"
#include "cli/train_request.h"
#include "cli/train_results.h"
#include "cli/watcher.h"
#include "cluster/cluster_file.h"
#include "core/error.h"
#include "core/file.h"
#include "core/log.h"
#include "core/machine.h"
#include "core/text.h"
#include "model/device.h"
#include "plan/plan_file.h"
#include "profile/profile_file.h"
#include "report/plan_table.h"
#include "report/training_table.h"
#include "systems/planning.h"
#include "systems/simulation.h"
#include "text/vocabulary_file.h"
#include "train/together.h"

namespace pipedream::cli {
namespace {

// Adds a line to `text`, unless it is empty.
void add_line(std::string& text, const std::string& line) {
  if (!line.empty()) text += (text.empty() ? "" : "\n  ") + line;
}

}  // namespace

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
  plan_request_ = plan_request_of(flags_);
  const train::PreparationCase of =
      preparation_case(plan_request_, [&](double share, const std::string& phase) {
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
  if (flags_.replan)
    replanning_.emplace(preparation_case(plan_request_, {}), preparation_, checkpoint_bytes(),
                        world_);
}

train::TrainingOutcome TrainCommand::run_session(const train::Session& session) {
  metrics_lines_.clear();
  Watcher watcher(entry_.name, session.plan().system, open_metrics(),
                  flags_.page.empty() ? nullptr : &metrics_lines_, open_tensorboard(), live_.get());
  if (live_) begin_live(session);
  std::optional<WhenInterrupted> note;
  if (speaks()) note.emplace(interruption(session.plan()));
  std::optional<StopOnSignal> stop;
  if (!request_.checkpoints.folder.empty())
    stop.emplace(speaks() ? "stopping after the next update, with a checkpoint; a second signal "
                            "stops at once, without"
                          : "",
                 /*only_user_signal=*/world_ != nullptr);
  train::Observer observer = watcher.observer();
  observer.odd_workers = [this, note = observer.odd_workers](const train::OddWorkers& odd) {
    note(odd);
    tell_odd(odd);
  };
  train::TrainingOutcome outcome = session.run(data_, observer);
  lost_metrics_ = watcher.lost_metrics();
  // All processes end with the same code, whatever only the first one knows.
  for (std::optional<std::string>* const failure : {&outcome.unsaved, &lost_metrics_}) {
    const std::string text = train::made_by_first(world_, [&] { return failure->value_or(""); });
    if (!text.empty()) *failure = text;
  }
  return outcome;
}

void TrainCommand::begin_live(const train::Session& session) {
  page::Run run{.name = session.plan().system,
                .is_measured = true,
                .result = {{"model", network_.name},
                           {"system", session.plan().system},
                           {"config", plan::config_text(session.plan())}}};
  if (preparation_.profile && preparation_.cluster)
    add_simulation(session.plan(), *preparation_.profile, *preparation_.cluster, run);
  if (folder_ && request_.resumed) run.metrics = read_file(folder_->file(train::kMetricsFile));
  live_->begin(network_.name + ": " + session.plan().system, std::move(run));
}

report::TrainingRun TrainCommand::train(train::PreparedPlan plan, train::TrainingOutcome& outcome) {
  std::vector<report::EarlierPlan> earlier;
  for (;;) {
    report::TrainingRun run = train_by(plan, outcome);
    auto better = replanning_ ? replanning_->take(outcome, request_) : std::nullopt;
    if (!better) {
      run.earlier = std::move(earlier);
      return run;
    }
    start_.run = flags_.out;
    start_.in_place = true;
    earlier.push_back(
        {plan::config_text(run.plan), run.measured.minibatches, run.measured.samples_per_second});
    plan = std::move(*better);
  }
}

report::TrainingRun TrainCommand::train_by(const train::PreparedPlan& plan,
                                           train::TrainingOutcome& outcome) {
  std::optional<systems::OwnSchedule> own;
  if (!flags_.schedule.empty())
    own = systems::read_own_schedule(flags_.schedule, plan.file.plan, network_.graph);
  choose_checkpoints(plan.file.predicted);
  choose_patience(plan);
  request_.expected = expectation(plan);
  if (replanning_) replanning_->watch(plan.file.plan, request_);
  tell_resumed();
  say(large_update_note(plan.file.plan, network_.batch,
                        request_.minibatches ? *request_.minibatches * network_.batch
                                             : request_.epochs * data_.training->samples()));
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

void TrainCommand::tell_odd(const train::OddWorkers& odd) {
  for (const train::OddWorker& worker : odd.found) {
    const std::string text = train::to_text(worker, odd, request_.expected.value());
    if (worker.ratio < 1)
      log_info(text);
    else
      log_warning(text + (flags_.replan ? "" : "; --replan would look for a better plan"));
  }
  if (replanning_) replanning_->tell(odd);
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
  if (!flags_.cluster.empty() || has_replanned())
    decided.emplace_back("cluster", train::kClusterFile);
  if (const auto every = request_.checkpoints.times.every)
    decided.emplace_back("checkpoint-every", std::to_string(*every));
  return configuration_text(command_, options, decided);
}

void TrainCommand::write_inputs(const train::PreparedPlan& plan) const {
  std::map<std::string, std::string> files{
      {train::kConfigurationFile, configuration(plan.file.plan)},
      {train::kPlanFile, plan::to_json(plan.file, network_.graph)}};
  if (preparation_.profile) files[train::kProfileFile] = profile::to_json(*preparation_.profile);
  if (data_.vocabulary) files[train::kVocabularyFile] = text::to_json(*data_.vocabulary);
  if (has_replanned())
    files[train::kClusterFile] = cluster::to_toml(preparation_.cluster.value());
  else if (!flags_.cluster.empty())
    files[train::kClusterFile] = read_file(flags_.cluster);
  if (!data_.skipped.empty()) files[train::kSkippedFile] = joined(data_.skipped, {}, "\n") + "\n";
  if (has_replanned()) return folder_->replace(files);
  folder_->begin(files);
  if (!request_.checkpoints.folder.empty()) folder_->prepare_checkpoints();
}

std::optional<TensorBoard> TrainCommand::open_tensorboard() const {
  if (flags_.tensorboard.empty() || !speaks()) return std::nullopt;
  return TensorBoard(trains_every_system() ? std::filesystem::path(flags_.tensorboard) /
                                                 preparation_.plans.at(trained_).file.plan.system
                                           : std::filesystem::path(flags_.tensorboard));
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

page::Run TrainCommand::page_run(const report::TrainingRun& run) const {
  page::Run page{.name = run.plan.system,
                 .is_measured = true,
                 .result = report::training_json(run),
                 .metrics = metrics_lines_};
  // The file also has what was trained before a checkpoint.
  if (folder_ && !lost_metrics_) page.metrics = read_file(folder_->file(train::kMetricsFile));
  page.timelines.push_back({"measured", run.measured.timeline});
  if (preparation_.profile && preparation_.cluster)
    add_simulation(run.plan, *preparation_.profile, *preparation_.cluster, page);
  return page;
}

std::string TrainCommand::add_page(const report::TrainingRun& run,
                                   std::vector<page::Run>& pages) const {
  if (!speaks() || flags_.page.empty()) return "";
  try {
    pages.push_back(page_run(run));
    return "";
  } catch (const std::exception& error) {
    return "--html: " + run.plan.system + " cannot be shown: " + error.what();
  }
}

std::string TrainCommand::write_html(const std::vector<page::Run>& pages) const {
  if (flags_.page.empty() || pages.empty()) return "";
  try {
    write_page(flags_.page,
               network_.name + (pages.size() > 1 ? ": all systems" : ": " + pages[0].name), pages);
    return "";
  } catch (const IoError& error) {
    return error.what();
  }
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
            << "; samples of a minibatch: " << network_.batch << "; nothing was trained\n\n"
            << settings_table(command_, flags_, defaults());
}

// What the program takes for settings that nobody gave.
std::vector<std::pair<std::string, std::string>> TrainCommand::defaults() const {
  const train::OptimiserOptions& optimiser = request_.optimiser;
  std::vector<std::pair<std::string, std::string>> values{
      {"model", entry_.name},
      {"batch", std::to_string(network_.batch)},
      {"data", "synthetic"},
      {"seed", std::to_string(flags_.seed)},
      {"workers", std::to_string(workers().count)},
      {"threads", std::to_string(flags_.threads)},
      {"device", computing_.device.is_cpu() ? "cpu" : "cuda"},
      {"precision", model::to_text(computing_.precision)},
      {"optimiser", train::to_text(optimiser.kind)},
      {"learning-rate", exact_number(optimiser.learning_rate)},
      {"learning-rate-decay", "none"},
      {"weight-decay", exact_number(optimiser.weight_decay)}};
  if (optimiser.kind == train::OptimiserKind::kMomentum)
    values.emplace_back("momentum", exact_number(optimiser.momentum));
  if (!request_.minibatches) values.emplace_back("epochs", std::to_string(request_.epochs));
  if (flags_.plan.empty()) values.emplace_back("system", flags_.system);
  for (const auto& [name, value] : network_.options) values.emplace_back(name, value);
  return values;
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
    say(flags_.out +
        (start_.ended_at
             ? " has ended at its target or learned no more, and its results are there; "
               "another target or --patience-epochs asks for more"
             : " has trained all that it was asked to, and its results are there; "
               "--epochs or --minibatches asks for more"));
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
  std::vector<page::Run> pages;
  std::string unwritten;  // results that could not be written, and why
  for (const train::PreparedPlan& plan : preparation_.plans) {
    train::TrainingOutcome outcome;
    if (trains_every_system())
      say("system " + std::to_string(runs.size() + 1) + " of " +
          std::to_string(preparation_.plans.size()) + ": " + name_of(plan.file.plan));
    trained_ = runs.size();
    runs.push_back(train(plan, outcome));
    if (live_) live_->end(report::training_json(runs.back()), outcome.interrupted);
    if (outcome.interrupted) {
      tell_interrupted(runs.back().measured, outcome);
      want_metrics();
      return false;
    }
    if (trains_every_system()) {
      add_line(unwritten, add_page(runs.back(), pages));
      continue;
    }
    if (outcome.unsaved)
      add_line(unwritten,
               "its last checkpoint was not written: " + *outcome.unsaved + newest_checkpoint());
    // Files are written first. If stdout is a closed pipe, printing fails, and nothing is lost.
    if (speaks()) {
      add_line(unwritten, write_results(flags_, folder_ ? &*folder_ : nullptr, runs.back(), outcome,
                                        model::metadata_of(network_, data_.facts)));
      add_line(unwritten, add_page(runs.back(), pages));
      add_line(unwritten, write_html(pages));
      show(runs.back());
    }
  }
  if (trains_every_system() && speaks()) {
    add_line(unwritten, write_html(pages));
    show_comparison(runs);
  }
  if (!unwritten.empty()) throw IoError("the training has ended, but " + unwritten);
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

}  // namespace pipedream::cli
