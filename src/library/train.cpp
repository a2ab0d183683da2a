#include "checkpoint/disk.h"
#include "checkpoint/folder.h"
#include "core/file.h"
#include "library/data.h"
#include "library/handles.h"
#include "train/request.h"
#include "train/run_folder.h"
#include "train/together.h"

namespace pipedream {
inline namespace v1 {
namespace {

train::OptimiserOptions optimiser_of(const Optimiser& wanted) {
  train::OptimiserOptions options;
  options.kind = train::optimiser_kind(wanted.kind);
  options.learning_rate = wanted.learning_rate.value_or(train::default_learning_rate(options.kind));
  options.momentum = wanted.momentum;
  options.weight_decay = wanted.weight_decay;
  options.beta1 = wanted.beta1;
  options.beta2 = wanted.beta2;
  options.epsilon = wanted.epsilon;
  options.decays_vectors = !wanted.decay_weights_only;
  options.ema = wanted.ema;
  return options;
}

// What `parse` reads from `text`, the value of the option `name`.
template <class Parse>
auto parsed(const char* name, const std::string& text, Parse parse) {
  try {
    return parse(text);
  } catch (const BadValue& bad) {
    throw BadUsage("`" + std::string(name) + "`: " + bad.what());
  }
}

train::RateOptions rate_of(const Optimiser& wanted) {
  train::RateOptions options{.scales = wanted.scale_learning_rate};
  if (!wanted.warm_up.empty())
    options.warm_up = parsed("warm_up", wanted.warm_up, train::parse_span);
  if (!wanted.learning_rate_decay.empty())
    options.decay = parsed("learning_rate_decay", wanted.learning_rate_decay, train::parse_decay);
  return options;
}

Evaluation public_form(const train::Evaluation& done) {
  return {done.epoch, done.score.mean_loss(), done.accuracy(), done.perplexity()};
}

// Parses the plan `text` for the layers of `network`. Throws BadUsage if it is for another network,
// and CannotMeet if it needs more workers than `mpi` has processes.
plan::PlanFile plan_of(const std::string& text, const model::Network& network,
                       const transport::MpiWorld* mpi) {
  const plan::PlanFile file = [&] {
    try {
      return plan::parse_plan(text, "the plan", network.graph);
    } catch (const BadFile& error) {
      throw BadUsage(std::string("the plan is not for this network: ") + error.what());
    }
  }();
  const int needed = plan::worker_count(file.plan);
  if (mpi != nullptr && needed > mpi->size())
    throw CannotMeet("the plan needs " + std::to_string(needed) + " workers, and mpirun started " +
                     std::to_string(mpi->size()) + (mpi->size() == 1 ? " process" : " processes"));
  return file;
}

train::Request request_of(const TrainOptions& options, bool evaluate) {
  train::Request request;
  request.epochs = options.epochs;
  request.minibatches = options.minibatches;
  request.evaluate = evaluate;
  request.seed = options.seed;
  request.threads = options.threads;
  request.bind_cores = options.bind_cores;
  request.computing = {options.device, options.precision};
  request.optimiser = optimiser_of(options.optimiser);
  request.rate = rate_of(options.optimiser);
  request.clip = options.clip;
  request.patience = options.patience;
  request.vertical_sync = options.vertical_sync;
  request.no_stash = options.no_stash;
  request.stall_folder = options.stall_folder;
  request.is_stopped = options.stop;
  train::CheckpointRequest& checkpoints = request.checkpoints;
  checkpoints.folder = options.checkpoints;
  checkpoints.keep = options.keep;
  checkpoints.times.every = options.checkpoint_every;
  checkpoints.times.at_epochs = !options.checkpoint_every;
  return request;
}

// The checkpoint that `named` means: one, or the newest of a folder.
train::SoundCheckpoint checkpoint_of(const std::filesystem::path& named) {
  if (is_there(named / checkpoint::kManifestFile)) return train::one_checkpoint(named);
  if (auto newest = train::newest_checkpoint(named)) return std::move(*newest);
  throw CannotMeet("`resume`: " + named.string() + " has no checkpoint to go on from");
}

// Makes and locks the folder of checkpoints, and removes what an interrupted writer has left there.
std::optional<FileLock> claim(const std::filesystem::path& folder) {
  if (folder.empty()) return std::nullopt;
  train::make_folders(folder);
  FileLock lock = train::lock_folder(folder, "checkpoints");
  checkpoint::remove_unfinished(checkpoint::real_disk(), folder);
  return lock;
}

// Whether the training goes on in the folder that its checkpoint is in.
bool goes_on_in_place(const TrainOptions& options, const train::SoundCheckpoint& from) {
  std::error_code ignored;
  return std::filesystem::equivalent(options.checkpoints, from.path.parent_path(), ignored);
}

// Refuses a folder whose checkpoints would be mixed with those of this training: of another one, or
// later ones than `from`, where this one begins.
void want_room(const TrainOptions& options, const std::optional<train::SoundCheckpoint>& from) {
  if (options.checkpoints.empty()) return;
  const auto found = checkpoint::find_checkpoints(options.checkpoints);
  const std::string folder = "`checkpoints` " + options.checkpoints.string();
  if (!from || !goes_on_in_place(options, *from)) {
    if (!found.empty())
      throw CannotMeet(folder + " has checkpoints already: `resume` them, or name another folder");
    return;
  }
  const std::int64_t step = from->manifest.position.step;
  for (const checkpoint::Found& each : found)
    if (each.step > step && !checkpoint::damage_of(each))
      throw CannotMeet(folder + " has a checkpoint after step " + std::to_string(step) +
                       ", which this training would mix with its own: name another folder");
}

// Finds where the training goes on; the first process finds it for all.
std::optional<train::SoundCheckpoint> find_start(const TrainOptions& options,
                                                 transport::MpiWorld* mpi) {
  if (options.resume.empty()) return std::nullopt;
  std::optional<train::SoundCheckpoint> found;
  const std::string text = train::made_by_first(mpi, [&] {
    found = checkpoint_of(options.resume);
    return train::to_text(*found);
  });
  return found ? found : train::checkpoint_in(text);
}

// Fills in where the training goes on. Throws CannotMeet if that would be another training.
void prepare_resuming(const model::Network& network, const plan::PlanFile& file,
                      const TrainOptions& options, train::Request& request) {
  request.checkpoints.run = request.resumed ? request.resumed->manifest.run : train::new_run_id();
  if (!request.resumed) return;
  const auto computing =
      runtime::choose_computing(request.computing, {file.device, file.precision});
  train::want_same_settings(request.resumed->manifest,
                            train::settings_of(network, request, computing.precision),
                            options.force, goes_on_in_place(options, *request.resumed));
}

// An observer that calls the functions in `options`. `last` gets the newest evaluation. Both must
// outlive the observer.
train::Observer observer_of(const TrainOptions& options, std::optional<Evaluation>& last) {
  train::Observer observer;
  if (options.on_step)
    observer.step = [&options](const train::Step& done) {
      options.on_step({done.minibatch, done.minibatches, done.loss, done.seconds.count()});
    };
  observer.evaluation = [&options, &last](const train::Evaluation& done) {
    last = public_form(done);
    if (options.on_evaluation) options.on_evaluation(*last);
  };
  return observer;
}

Result result_of(const train::Session& session, train::TrainingOutcome outcome,
                 const std::optional<Evaluation>& last) {
  const systems::Measured& measured = outcome.measured;
  Result result;
  result.weights = std::move(outcome.weights.parameters);
  result.weights.merge(outcome.weights.buffers);
  result.minibatches = measured.minibatches;
  result.interrupted = outcome.interrupted;
  result.unsaved = outcome.unsaved.value_or("");
  result.loss = measured.loss;
  result.held_out = last;
  result.samples_per_second = measured.samples_per_second;
  result.seconds = measured.seconds.count();
  for (const Bytes memory : measured.memory) result.memory.push_back(memory.count);
  result.table = report::training_table(session.report_of(measured, std::nullopt));
  return result;
}

}  // namespace

// A wrong call is refused before anything runs, by all processes or by none.
Result train(const Network& network, const Plan& plan, const Data& data,
             const TrainOptions& options) {
  transport::MpiWorld* const mpi = library::mpi_of(options.world);
  const model::Network& layers = network.impl().network;
  data::Data samples;
  train::Request request;
  std::optional<FileLock> lock;
  train::agree(mpi, [&] {
    samples = library::data_of(data, layers);
    request = request_of(options, samples.held_out != nullptr);
    request.data = {options.data_name, samples.training->samples()};
    train::check(request);
    if (mpi != nullptr && mpi->rank() > 0) return;
    lock = claim(options.checkpoints);
  });
  // All processes train with the plan of the first one.
  const std::string text =
      train::made_by_first(mpi, [&] { return plan::to_json(plan.impl().file, plan.impl().graph); });
  request.resumed = find_start(options, mpi);
  std::optional<train::Session> session;
  train::agree(mpi, [&] {
    const plan::PlanFile file = plan_of(text, layers, mpi);
    if (mpi == nullptr || mpi->rank() == 0) want_room(options, request.resumed);
    prepare_resuming(layers, file, options, request);
    session.emplace(layers, file, request, nullptr, mpi);
  });
  return train::run_together(mpi, [&] {
    std::optional<Evaluation> last;
    train::TrainingOutcome outcome = session->run(samples, observer_of(options, last));
    if (mpi != nullptr && mpi->rank() > 0) {
      Result other;
      other.interrupted = outcome.interrupted;
      return other;
    }
    return result_of(*session, std::move(outcome), last);
  });
}

}  // namespace v1
}  // namespace pipedream
