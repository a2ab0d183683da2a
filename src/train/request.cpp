#include "train/request.h"

#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace pipedream::train {
namespace {

void check_count(const char* option, std::int64_t found, std::int64_t most) {
  if (found < 1 || found > most)
    throw BadUsage("`" + std::string(option) + "`: wanted 1 to " + std::to_string(most) +
                   ", found " + std::to_string(found));
}

}  // namespace

void check(const Request& request) {
  check_count("epochs", request.epochs, kMostMinibatches);
  check_count("minibatches", request.minibatches.value_or(1), kMostMinibatches);
  check_count("threads", request.threads, kMostThreads);
  if (!(request.patience > 0 && request.patience <= runtime::kMostPatience))
    throw BadUsage("`patience`: wanted more than 0 and at most 10 million seconds, found " +
                   brief_number(request.patience));
  if (request.clip && !(*request.clip > 0))
    throw BadUsage("`clip`: wanted a norm above 0, found " + brief_number(*request.clip));
  (void)make_optimiser(request.optimiser);  // says what is wrong with its numbers
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
  job_.replicas = check_recipe(recipe_, job_);
}

Recipe Session::make_recipe(const Request& request) const {
  Recipe recipe{.batch = network_.batch,
                .epochs = request.epochs,
                .minibatches = request.minibatches,
                .evaluate = request.evaluate};
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
  const auto [device, precision] =
      runtime::choose_computing(request.computing, {file_.device, file_.precision});
  job.precision = precision;
  if (!device.is_cpu())
    job.devices = runtime::devices_of_workers(
        device, world_ != nullptr ? hosts : std::vector<int>(static_cast<std::size_t>(needed)));
  job.patience = std::chrono::milliseconds(std::llround(request.patience * 1000));
  job.averaging.way.exchange = request.exchange;
  job.averaging.way.host_of = hosts;
  job.make_optimiser = [options = request.optimiser] { return make_optimiser(options); };
  job.clip_norm = request.clip;
  job.keep_timeline = request.keep_timeline;
  job.stall_folder = request.stall_folder;
  return job;
}

std::optional<TrainingOutcome> Session::run(const Data& data, const Observer& observer) const {
  if (world_ == nullptr) return train_on_threads(recipe_, job_, data, observer, link_);
  return train_as_process(*world_, recipe_, job_, data, observer, link_);
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
  for (const auto& stage : file_.predicted.stages) run.stage_memory.push_back(stage.memory);
  return run;
}

}  // namespace pipedream::train
