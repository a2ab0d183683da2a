#include <chrono>
#include <cmath>

#include "library/data.h"
#include "library/world.h"
#include "report/training_table.h"
#include "runtime/devices.h"
#include "systems/planning.h"
#include "train/optimiser_options.h"
#include "train/trainer.h"

namespace pipedream {
inline namespace v1 {
namespace {

void check_options(const TrainOptions& options) {
  const auto check = [](std::int64_t found, const std::string& what) {
    if (found < 1 || found > train::kMostMinibatches)
      throw BadUsage("train: wanted 1 to " + std::to_string(train::kMostMinibatches) + " " + what +
                     ", found " + std::to_string(found));
  };
  check(options.epochs, "epochs");
  check(options.minibatches.value_or(1), "minibatches");
  if (options.threads < 1)
    throw BadUsage("train: wanted at least one thread, found " + std::to_string(options.threads));
  if (!(options.patience > 0 && options.patience <= runtime::kMostPatience))
    throw BadUsage("train: wanted a patience above 0 and up to 10 million seconds, found " +
                   std::to_string(options.patience));
  if (options.clip && !(*options.clip > 0))
    throw BadUsage("train: wanted to clip above 0, found " + std::to_string(*options.clip));
}

train::OptimiserOptions optimiser_of(const Optimiser& wanted) {
  train::OptimiserOptions options;
  options.kind = train::optimiser_kind(wanted.kind);
  options.learning_rate = wanted.learning_rate.value_or(train::default_learning_rate(options.kind));
  options.momentum = wanted.momentum;
  options.weight_decay = wanted.weight_decay;
  options.beta1 = wanted.beta1;
  options.beta2 = wanted.beta2;
  options.epsilon = wanted.epsilon;
  return options;
}

Evaluation public_form(const train::Evaluation& done) {
  return {done.epoch, done.score.mean_loss(), done.accuracy(), done.perplexity()};
}

// The plan of that text for the layers of this network.
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

// One call of train(): refused when it is made, by all processes or by none.
class Run {
 public:
  Run(const Network& network, const Plan& plan, const Data& data, const TrainOptions& options)
      : options_(options), network_(network.impl().network), mpi_(library::mpi_of(options.world)) {
    library::agree(mpi_, [&] {
      check_options(options);
      optimiser_ = optimiser_of(options.optimiser);
      (void)train::make_optimiser(optimiser_);  // says what is wrong with its numbers
      data_ = library::data_of(data, network_);
    });
    // The one that trains is the first process's.
    const std::string text = library::made_by_first(
        mpi_, [&] { return plan::to_json(plan.impl().file, plan.impl().graph); });
    library::agree(mpi_, [&] {
      file_ = plan_of(text, network_, mpi_);
      recipe_ = recipe();
      job_.emplace(job());
    });
  }

  Result run() {
    return library::run_together(mpi_, [this] {
      if (mpi_ == nullptr)
        return result(train::train_on_threads(recipe_, *job_, data_, observer(), std::nullopt));
      auto outcome =
          train::train_as_process(*mpi_, recipe_, *job_, data_, observer(), std::nullopt);
      return outcome ? result(std::move(*outcome)) : Result{};
    });
  }

 private:
  [[nodiscard]] train::Recipe recipe() const {
    train::Recipe recipe{.batch = network_.batch,
                         .epochs = options_.epochs,
                         .minibatches = options_.minibatches,
                         .evaluate = data_.held_out != nullptr};
    recipe.weights.vertical_sync = options_.vertical_sync;
    recipe.weights.no_stash = options_.no_stash;
    return recipe;
  }
  [[nodiscard]] runtime::Job job() const {
    runtime::Job job{.network = network_, .plan = file_.plan, .seed = options_.seed};
    job.threads = options_.threads;
    const auto [device, precision] = runtime::choose_computing(
        {options_.device, options_.precision}, {file_.device, file_.precision});
    job.precision = precision;
    if (!device.is_cpu())
      job.devices = runtime::devices_of_workers(
          device, mpi_ != nullptr
                      ? mpi_->hosts()
                      : std::vector<int>(static_cast<std::size_t>(plan::worker_count(file_.plan))));
    job.patience = std::chrono::milliseconds(std::llround(options_.patience * 1000));
    if (mpi_ != nullptr) job.averaging.way.host_of = mpi_->hosts();
    job.make_optimiser = [this] { return train::make_optimiser(optimiser_); };
    job.clip_norm = options_.clip;
    job.stall_folder = options_.stall_folder;
    job.replicas = train::check_recipe(recipe_, job);
    return job;
  }
  [[nodiscard]] train::Observer observer() {
    train::Observer observer;
    if (options_.on_step)
      observer.step = [this](const train::Step& done) {
        options_.on_step({done.minibatch, done.minibatches, done.loss, done.seconds.count()});
      };
    observer.evaluation = [this](const train::Evaluation& done) {
      last_ = public_form(done);
      if (options_.on_evaluation) options_.on_evaluation(*last_);
    };
    return observer;
  }
  [[nodiscard]] Result result(train::Outcome outcome) const {
    const systems::Measured& measured = outcome.measured;
    Result result;
    result.weights = std::move(outcome.weights.parameters);
    result.weights.merge(outcome.weights.buffers);
    result.minibatches = measured.minibatches;
    result.loss = measured.loss;
    result.held_out = last_;
    result.samples_per_second = measured.samples_per_second;
    result.seconds = measured.seconds.count();
    for (const Bytes memory : measured.memory) result.memory.push_back(memory.count);
    report::TrainingRun run{
        network_.name, file_.plan, network_.batch, file_.predicted.samples_per_second, {},
        measured};
    for (const auto& stage : file_.predicted.stages) run.stage_memory.push_back(stage.memory);
    result.table = report::training_table(run);
    return result;
  }

  const TrainOptions& options_;
  const model::Network& network_;
  transport::MpiWorld* mpi_;
  train::OptimiserOptions optimiser_;
  plan::PlanFile file_;
  train::Data data_;
  train::Recipe recipe_;
  std::optional<runtime::Job> job_;  // refers to the network and the plan
  std::optional<Evaluation> last_;
};

}  // namespace

Result train(const Network& network, const Plan& plan, const Data& data,
             const TrainOptions& options) {
  return Run(network, plan, data, options).run();
}

}  // namespace v1
}  // namespace pipedream
