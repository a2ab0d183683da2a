// What a training command checks and prepares before it plans; train_command_run.cpp has the rest.
#include "cli/train_command.h"

#include <iostream>
#include <utility>

#include "checkpoint/folder.h"
#include "cli/page_flags.h"
#include "cli/pictures.h"
#include "cli/spelling.h"
#include "cli/train_checkpoints.h"
#include "cli/train_configuration.h"
#include "cli/train_request.h"
#include "core/checksum.h"
#include "core/error.h"
#include "core/file.h"
#include "core/machine.h"
#include "core/text.h"
#include "data/task.h"
#include "data/tokeniser.h"
#include "model/device.h"
#include "model/padding.h"
#include "plan/plan_file.h"
#include "profile/device_names.h"
#include "profile/profile_file.h"
#include "systems/planning.h"

namespace pipedream::cli {

TrainCommand::TrainCommand(TrainFlags& flags, CLI::App& command, transport::MpiWorld* world,
                           TrainSettings settings)
    : flags_(flags),
      command_(command),
      entry_(std::move(settings.entry)),
      network_(network_of(flags, entry_)),
      world_(world),
      start_(std::move(settings.start)),
      request_(request_of(flags)) {
  check_threads(flags.threads);
  computing_ = computing_for_planning();
  train::check(request_);
  check_weights();
  check_workers();
  check_checkpoint_flags(flags);
  check_replanning();
  if (speaks() && !flags.dry_run) claim_outputs();
  open_data();
  if (data_.held_out == nullptr) request_.evaluate = false;
  train::want_evaluations(request_);
  request_.data = {absolute_data_name(flags.data), data_.training->samples()};
  prepare_resuming();
  if (speaks() && !flags.dry_run) check_space();
}

// A run that goes on keeps the tokens of its text.
void TrainCommand::open_data() {
  data::DataOptions options = data_options(flags_);
  if (start_.resumed && train::is_seen(*start_.resumed)) {
    options.earlier = model::facts_of_data(train::metadata_of(*start_.resumed));
    want_resumable_flags();
  }
  data_ = data::open_data(flags_.data, network_, options);
  want_same_facts(options.earlier);
  if (data_.has_padding) model::ignore_padding(network_);
}

// Throws CannotMeet for flags that a run cannot begin to have.
void TrainCommand::want_resumable_flags() const {
  const auto origin = flags_.origins.find("tokeniser");
  const bool is_of_the_run = origin != flags_.origins.end() && origin->second != "--set";
  if (!flags_.tokeniser.empty() && !is_of_the_run && !data::is_vocabulary_file(flags_.tokeniser))
    throw CannotMeet("--tokeniser " + printable(flags_.tokeniser) +
                     ": a run that goes on keeps its tokens; leave it out");
  if (request_.optimiser.ema && !train::takes_averages(*start_.resumed))
    throw CannotMeet(
        "--ema: the run began without averages of its weights, so it cannot begin to "
        "keep them; leave it out");
}

// Throws CannotMeet if the data of the run to go on with was other data, or prepared otherwise.
void TrainCommand::want_same_facts(const std::map<std::string, std::string>& before) const {
  if (before.empty() || flags_.force) return;
  std::vector<std::string> changed;
  for (const auto& [name, value] : data_.facts)
    if (const auto found = before.find(name); found == before.end() || found->second != value)
      changed.push_back(name);
  if (changed.empty()) return;
  throw CannotMeet("--data is not what it was for the checkpoint: its " + joined(changed) +
                   " (docs/formats.md, weights); --force goes on with it as it is");
}

// Only the first process prints.
void TrainCommand::say(const std::string& line) const {
  if (speaks() && !line.empty()) std::cerr << with_flags(line) << "\n";
}

// What each process reads by itself, and all must have alike.
train::Settings TrainCommand::inputs() const {
  const auto count = [](const data::DataSet* data) {
    return counted(data == nullptr ? 0 : data->samples(), "sample", "samples");
  };
  train::Settings inputs{
      {"--data, to train on", count(data_.training.get())},
      {"--data, held out", count(data_.held_out.get())},
      {"--model", counted(model::parameter_count(network_), "parameter", "parameters")}};
  for (const auto& [name, value] : data_.facts)
    inputs.emplace_back("--data, its " + name, "a text of checksum " + checksum_of(value));
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
  if (start_.ended_at && is_enough(*start_.ended_at, request_.goal)) return true;
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
  if (speaks()) return computing_of(flags_, network_);
  return runtime::choose_computing({flags_.device, flags_.precision}, {});
}

train::Workers TrainCommand::workers() const {
  if (world_) return {world_->size(), world_->here()};
  const int all = flags_.workers ? *flags_.workers : workers_with_room(flags_, computing_);
  return {all, all};
}

void TrainCommand::claim_outputs() {
  check_picture_files(flags_);
  check_page_file("--html", flags_.page);
  if (!flags_.weights_file.empty()) prepare_to_write(flags_.weights_file);
  if (trains_every_system() && !flags_.serve.empty())
    throw BadUsage("--serve shows one training: choose one --system, or use --html");
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
  if (!flags_.tensorboard.empty())
    prepare_to_write(std::filesystem::path(flags_.tensorboard) / "events");
  if (!flags_.serve.empty()) live_ = std::make_unique<LivePage>(flags_.serve, network_.name);
}

// Weights and checkpoints are by far the largest files, and their sizes are known. Pictures and
// traces of long runs take some megabytes.
void TrainCommand::check_space() const {
  constexpr Bytes kPictures{16 << 20};
  const Bytes weights = model::state_bytes(network_);
  const std::int64_t checkpoints = folder_ ? more_checkpoints() : 0;
  if (folder_)
    train::want_space(
        folder_->path(), weights + kPictures + Bytes{checkpoints * checkpoint_bytes().count},
        checkpoints == 0 ? "the run folder"
                         : "the run folder, with " +
                               counted(checkpoints, "checkpoint", "checkpoints") + " at a time,");
  if (flags_.weights_file.empty()) return;
  const auto parent = std::filesystem::absolute(flags_.weights_file).parent_path();
  train::want_space(parent, weights, "--export " + flags_.weights_file);
}

// The weights, and the state of the optimiser.
Bytes TrainCommand::checkpoint_bytes() const {
  const int copies = 1 + systems::optimiser_copies(train::to_text(request_.optimiser.kind));
  return Bytes{copies * model::state_bytes(network_).count};
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

void TrainCommand::check_replanning() {
  request_.stragglers = stragglers_of(flags_.stragglers, workers().count);
  for (const Straggler& straggler : request_.stragglers)
    if (straggler.speed > 1)
      throw BadUsage("--straggler: a training can only hold workers back, found a speed above 1");
  if (!flags_.replan) return;
  if (trains_every_system())
    throw BadUsage(
        "--replan: --system all compares the plans that were made; leave one of them out");
  if (!flags_.schedule.empty())
    throw BadUsage("--replan: a schedule of your own is for one plan; leave one of them out");
  if (!wants_checkpoints(flags_))
    throw BadUsage(
        "--replan: a new plan goes on from a checkpoint; name a folder with --out, and leave "
        "--checkpoint-every never out");
  if (!flags_.plan.empty() && flags_.profile.empty() && !flags_.forgets_prediction)
    throw CannotMeet("--replan: a new plan is made from a profile; add --profile to --plan");
}

train::PreparationCase TrainCommand::preparation_case(
    const train::PlanRequest& plan,
    std::function<void(double, const std::string&)> progress) const {
  return {network_, *data_.training, plan, request_, workers(), computing_, std::move(progress)};
}

}  // namespace pipedream::cli
