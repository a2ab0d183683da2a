#include "train/request.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "systems/planning.h"
#include "train/memory_need.h"

namespace pipedream::train {
namespace {

void check_count(const char* option, std::int64_t found, std::int64_t most) {
  if (found < 1 || found > most)
    throw BadUsage("`" + std::string(option) + "`: wanted 1 to " + std::to_string(most) +
                   ", found " + std::to_string(found));
}

void check(const Target& target) {
  const bool is_share = target.figure == Figure::kAccuracy;
  const double least = target.figure == Figure::kPerplexity ? 1 : 0;
  if (std::isfinite(target.wanted) && target.wanted >= least && (!is_share || target.wanted <= 1))
    return;
  throw BadUsage("`target_" + std::string(to_text(target.figure)) + "`: wanted " +
                 (is_share ? "a share from 0 to 1, such as 0.97"
                           : "a number from " + brief_number(least) + " on") +
                 ", found " + brief_number(target.wanted));
}

// Parameter servers keep parts of many parameters in one array, and do not know which is which.
void check_optimiser(const OptimiserOptions& options, const plan::Plan& plan) {
  if (!systems::find_system(plan.system).traits.asynchronous) return;
  if (!options.decays_vectors)
    throw CannotMeet("`decay_weights_only`: the parameter servers of " + plan.system +
                     " do not know which weights are biases; choose another `system`");
  if (options.ema)
    throw CannotMeet("`ema`: the parameter servers of " + plan.system +
                     " keep no averages of weights; choose another `system`");
}

}  // namespace

double default_patience(const plan::PlanFile& file,
                        const std::optional<systems::Simulated>& simulated, double share) {
  constexpr double kUnknown = 600;
  constexpr double kShortest = 10;
  constexpr double kTimes = 20;
  const plan::Predicted& predicted = file.predicted;
  // A stage with r replicas takes at most r times the time per minibatch. So the first minibatch
  // leaves the last stage after at most worker_count × seconds_per_minibatch.
  const double bound = predicted.seconds_per_minibatch * plan::worker_count(file.plan);
  const double longest = simulated                      ? to_seconds(simulated->summary.longest_gap)
                         : predicted.samples_per_second ? bound
                                                        : kUnknown / kTimes;
  return std::clamp(kTimes * longest / share, kShortest, runtime::kMostPatience);
}

void want_evaluations(const Request& request) {
  if (request.evaluate) return;
  const auto fail = [](const std::string& option) {
    throw BadUsage("`" + option +
                   "` is about held-out data, and none is evaluated: hold out some samples, or "
                   "leave it out");
  };
  if (request.goal.target) fail(std::string("target_") + to_text(request.goal.target->figure));
  if (request.goal.patience_epochs) fail("patience_epochs");
  if (request.evaluate_every) fail("evaluate_every");
  if (request.evaluation_samples) fail("evaluation_samples");
}

void check(const Request& request) {
  check_count("epochs", request.epochs, kMostMinibatches);
  check_count("minibatches", request.minibatches.value_or(1), kMostMinibatches);
  check_count("threads", request.threads, kMostThreads);
  check_count("evaluate_every", request.evaluate_every.value_or(1), kMostMinibatches);
  check_count("evaluation_samples", request.evaluation_samples.value_or(1), kMostMinibatches);
  check_count("patience_epochs", request.goal.patience_epochs.value_or(1), kMostMinibatches);
  if (request.goal.target) check(*request.goal.target);
  check_count("checkpoint_every", request.checkpoints.times.every.value_or(1), kMostMinibatches);
  check_count("checkpoint_at", request.checkpoints.times.once.value_or(1), kMostMinibatches);
  check_count("keep", request.checkpoints.keep, kMostKept);
  if (const double patience = request.patience.value_or(1);
      !(patience > 0 && patience <= runtime::kMostPatience))
    throw BadUsage("`patience`: wanted more than 0 and at most 10 million seconds, found " +
                   brief_number(patience));
  if (request.clip && !(*request.clip > 0))
    throw BadUsage("`clip`: wanted a norm above 0, found " + brief_number(*request.clip));
  (void)make_optimiser(request.optimiser);  // says what is wrong with its numbers
}

checkpoint::Manifest settings_of(const model::Network& network, const Request& request,
                                 model::Precision precision) {
  checkpoint::Manifest settings;
  settings.run = request.checkpoints.run;
  settings.seed = request.seed;
  settings.model = network.name;
  settings.model_options = network.options;
  settings.model_facts = network.facts;
  settings.data = request.data.name;
  settings.data_samples = request.data.samples;
  settings.batch = network.batch;
  settings.precision = model::to_text(precision);
  settings.optimiser = to_text(request.optimiser.kind);
  settings.learning_rate = request.optimiser.learning_rate;
  return settings;
}

void want_no_less(const Request& request, const checkpoint::Manifest& settings) {
  if (!request.resumed) return;
  const checkpoint::Position at = resumed_position(request.resumed->manifest, settings);
  const std::int64_t asked =
      samples_in_all(settings.data_samples, settings.batch, request.epochs, request.minibatches);
  if (at.samples <= asked) return;
  throw CannotMeet("the checkpoint " + request.resumed->path.string() + " has trained " +
                   counted(at.samples, "sample", "samples") + ", and " + std::to_string(asked) +
                   " are asked for in all: ask for more `epochs` or `minibatches`");
}

Session::Session(const model::Network& network, const plan::PlanFile& file, const Request& request,
                 const systems::OwnSchedule* own, transport::MpiWorld* world)
    : network_(network),
      file_(file),
      own_(own),
      world_(world),
      optimiser_(request.optimiser),
      recipe_(make_recipe(request)),
      job_(make_job(request)) {
  if (request.link) link_ = transport::Links{.bytes_per_second = request.link->bytes_per_second};
  if (own_ != nullptr) file_.plan.microbatches = own_->extent.microbatches;
  if (own_ != nullptr && (request.goal.is_set() || request.evaluate_every))
    throw CannotMeet(
        "a schedule of your own is trained as a whole: leave the target, `patience_epochs` and "
        "`evaluate_every` out");
  job_.replicas = check_recipe(recipe_, job_);
  check_optimiser(request.optimiser, file_.plan);
  prepare_checkpoints(request);
}

void Session::prepare_checkpoints(const Request& request) {
  checkpoint::Manifest about = settings_of(network_, request, job_.precision);
  if (request.resumed) {
    if (own_ == nullptr) want_no_less(request, about);
    recipe_.beginning = beginning_of(request.resumed->manifest, about);
    recipe_.resumes = true;
    // Whatever is wrong with the files, worker 0 must say it: it is the one that found them.
    const bool is_first = world_ == nullptr || world_->rank() == 0;
    if (is_first) want_fitting(network_, *request.resumed);
    if (is_first || is_seen(*request.resumed)) recipe_.resumed = tensors_of(*request.resumed);
  } else if (!request.initial.file.empty()) {
    recipe_.initial = find_weights(network_, request.initial);
  }
  const CheckpointRequest& wanted = request.checkpoints;
  if (wanted.folder.empty()) return;
  about.plan = plan::to_json(file_, network_.graph);
  recipe_.checkpoints = wanted.times;
  recipe_.is_stopped = request.is_stopped;
  recipe_.saving.emplace(Saving{.folder = wanted.folder, .keep = wanted.keep, .about = about});
  if (!request.resumed) return;
  for (const checkpoint::Skipped& each : request.resumed->skipped)
    if (each.damage.is_for_good) recipe_.saving->damaged.push_back(each.path);
}

Recipe Session::make_recipe(const Request& request) const {
  Recipe recipe{.batch = network_.batch,
                .epochs = request.epochs,
                .minibatches = request.minibatches,
                .evaluate = request.evaluate};
  recipe.expected = request.expected;
  recipe.slow_after = request.slow_after;
  recipe.evaluate_every = request.evaluate_every;
  recipe.evaluation_samples = request.evaluation_samples;
  recipe.goal = request.goal;
  recipe.learning_rate = request.optimiser.learning_rate;
  recipe.uses_averages = request.optimiser.ema.has_value();
  recipe.rate = request.rate;
  recipe.schedule_options.vertical_sync = request.vertical_sync;
  recipe.schedule_options.no_stash = request.no_stash;
  if (own_ == nullptr) return recipe;
  recipe.schedule = &own_->schedule;
  recipe.extent = own_->extent;
  return recipe;
}

runtime::Job Session::make_job(const Request& request) const {
  const int needed = plan::worker_count(file_.plan);
  const std::vector<int> hosts = world_ != nullptr ? world_->hosts() : request.hosts;
  runtime::Job job{.network = network_, .plan = file_.plan, .seed = request.seed};
  job.threads = request.threads;
  job.bind_cores = request.bind_cores;
  const auto [device, precision] =
      runtime::choose_computing(request.computing, {file_.device, file_.precision});
  job.precision = precision;
  if (!device.is_cpu())
    job.devices = runtime::devices_of_workers(
        device, world_ != nullptr ? hosts : std::vector<int>(static_cast<std::size_t>(needed)));
  const double patience = request.patience.value_or(default_patience(file_, std::nullopt, 1));
  job.patience = std::chrono::milliseconds(std::llround(patience * 1000));
  job.averaging.way.exchange = request.exchange;
  job.averaging.way.host_of = hosts;
  job.make_optimiser = [options = request.optimiser] { return make_optimiser(options); };
  job.clip_norm = request.clip;
  job.stragglers = request.stragglers;
  if (!job.devices.empty() && !job.stragglers.empty())
    throw CannotMeet("`straggler` holds back workers on CPUs, and these are on GPUs: leave it out");
  job.keep_timeline = request.keep_timeline;
  job.stall_folder = request.stall_folder;
  return job;
}

TrainingOutcome Session::run(const data::Data& data, const Observer& observer) const {
  if (job_.devices.empty()) want_memory_for_training(file_, workers_here(), copies());
  if (world_ == nullptr) return train_on_threads(recipe_, job_, data, observer, link_);
  return train_as_process(*world_, recipe_, job_, data, observer, link_);
}

std::vector<Bytes> Session::copies() const {
  if (!recipe_.saving || !job_.devices.empty()) return {};
  return checkpoint_copies(file_, copies_of(optimiser_));
}

std::vector<WorkerId> Session::workers_here() const {
  std::vector<WorkerId> here;
  for (int w = 0; w < plan::worker_count(file_.plan); ++w) {
    const auto host = [&](int rank) { return world_->hosts().at(static_cast<std::size_t>(rank)); };
    if (world_ == nullptr || host(w) == host(world_->rank())) here.push_back({w});
  }
  return here;
}

report::TrainingRun Session::report_of(const systems::Measured& measured,
                                       std::optional<systems::Simulated> simulated) const {
  report::TrainingRun run{network_.name,        file_.plan,
                          network_.batch,       file_.predicted.samples_per_second,
                          std::move(simulated), measured};
  run.options = network_.options;
  run.seed = job_.seed;
  run.optimiser = to_text(optimiser_.kind);
  run.learning_rate = optimiser_.learning_rate;
  if (own_ != nullptr) {  // what was predicted is about the system's schedule
    run.predicted.reset();
    return run;
  }
  run.predicted_drain = file_.predicted.drain_seconds;
  run.copies = copies();
  for (const auto& stage : file_.predicted.stages) run.stage_memory.push_back(stage.memory);
  return run;
}

}  // namespace pipedream::train
