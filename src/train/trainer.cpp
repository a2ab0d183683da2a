#include "train/trainer.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/match.h"
#include "model/memory_meter.h"
#include "runtime/pace.h"
#include "schedule/evaluation.h"
#include "systems/simulation.h"
#include "train/course.h"
#include "train/item_feed.h"
#include "train/news.h"

namespace pipedream::train {
namespace {

using schedule::Extent;
using schedule::Schedule;

StageId loss_stage_of(const runtime::Job& job) {
  const auto stage_of = plan::stage_of_each_layer(job.plan, job.network.graph);
  return stage_of[job.network.graph.value(job.network.loss).producer.index()];
}

// Returns the events of all workers, sorted by their ends, as timeline::Account requires. Times are
// shifted so that 0 is the earliest beginning of an event, its wait for data included.
std::vector<timeline::Event> merged_events(const std::vector<runtime::WorkerResult>& results) {
  std::vector<timeline::Event> events;
  for (const runtime::WorkerResult& result : results)
    events.insert(events.end(), result.events.begin(), result.events.end());
  std::stable_sort(events.begin(), events.end(),
                   [](const auto& a, const auto& b) { return a.end < b.end; });
  Nanos began = Nanos::max();
  for (const timeline::Event& event : events)
    began = std::min(began, event.start - event.transfer - event.wait);
  for (timeline::Event& event : events) {
    event.start -= began;
    event.end -= began;
  }
  return events;
}

// The staleness that workers counted while they ran. Used if weight versions depend on timing.
systems::Staleness staleness_of(const std::vector<runtime::WorkerResult>& results) {
  runtime::Lateness all;
  for (const runtime::WorkerResult& result : results) {
    all.most = std::max(all.most, result.lateness.most);
    all.sum += result.lateness.sum;
    all.count += result.lateness.count;
  }
  return {all.most,
          all.count > 0 ? static_cast<double>(all.sum) / static_cast<double>(all.count) : 0};
}

// Returns `op` with its minibatches counted in the units of Step. One minibatch of the schedule is
// `in_one` of these units, and the first one of the schedule has number `first`.
schedule::Op counted_from(std::int64_t first, std::int64_t in_one, schedule::Op op) {
  std::visit(
      Match{[&](schedule::Update& update) {
              update.first = first + update.first * in_one;
              update.last = first + update.last * in_one + in_one - 1;
            },
            [](schedule::Reduce&) {}, [](schedule::Await&) {}, [](schedule::Pull&) {},
            [&](auto& other) { other.item.minibatch = first + other.item.minibatch * in_one; }},
      op);
  return op;
}

CourseOptions course_options(const Recipe& recipe, const runtime::Job& job,
                             const DataSet& training) {
  return {.samples = training.samples(),
          .batch = recipe.batch,
          .epochs = recipe.epochs,
          .minibatches = recipe.minibatches,
          .extent = recipe.extent,
          .seed = job.seed,
          .checkpoints = recipe.saving ? recipe.checkpoints : CheckpointTimes{},
          .beginning = recipe.beginning};
}

// Runs one worker through a whole training. Used by the thread of this worker; note_loss() runs on
// the thread of `reader_`.
class TrainingWorker {
 public:
  TrainingWorker(const Recipe& recipe, const runtime::Job& job, const Data& data,
                 const Observer& observer, const runtime::Seat& seat,
                 std::shared_ptr<model::MemoryLedger> ledger)
      : recipe_(recipe),
        job_(job),
        data_(data),
        observer_(observer),
        seat_(seat),
        course_(course_options(recipe, job, *data.training), job.plan, job.replicas),
        loss_stage_(loss_stage_of(job)),
        routes_(job.plan, job.network.graph, job.replicas),
        meter_(std::move(ledger), job.device_of(seat.me)),
        worker_(job, seat.me, seat.channels, seat.clock,
                [this](const runtime::Loss& loss) { tell_loss(loss); }) {
    if (recipe.saving) saver_.emplace(*recipe.saving, seat.channels.saves);
    if (recipe.resumed)
      runtime::load_state(worker_, schedule_of({1, job.plan.microbatches, 1}).rules, recipe.resumed,
                          seat.channels.control);
    samples_ = recipe.beginning.samples;
  }

  // Only worker 0 returns the outcome.
  std::optional<TrainingOutcome> run() {
    for (std::int64_t next = 0; next < course_.minibatches(); next += last_stretch_.count) {
      last_stretch_ = course_.stretch_from(next);
      train(last_stretch_);
      const bool is_last = next + last_stretch_.count == course_.minibatches();
      if (recipe_.evaluate && (last_stretch_.ends_epoch || is_last)) evaluate(last_stretch_.epoch);
      if (last_stretch_.saves) save(last_stretch_);
    }
    TrainingOutcome outcome;
    if (saver_) {
      saver_->finish();
      outcome.unsaved = saver_->failure();
    }
    outcome.workers =
        runtime::gather(worker_, Bytes{meter_.peak()}, seat_.channels.control, job_.patience);
    outcome.weights = runtime::gather_weights(worker_, job_, seat_.channels.control);
    if (seat_.me != WorkerId{0}) return std::nullopt;
    finish(outcome);
    return outcome;
  }

 private:
  void train(const Stretch& stretch);
  void evaluate(std::int64_t epoch);
  // Has a checkpoint of the state after `stretch` written.
  void save(const Stretch& stretch);
  // The schedule of a stretch, and the options that it is made with.
  [[nodiscard]] Schedule schedule_of(const Extent& extent) const;
  [[nodiscard]] systems::ScheduleOptions options_of(const Extent& extent) const;
  // Samples in `count` minibatches of the last stretch, from its number `from` on.
  [[nodiscard]] std::int64_t samples_of_last(std::int64_t from, std::int64_t count) const;
  void tell_loss(const runtime::Loss& loss) const;
  void note_loss(const runtime::Loss& loss);
  void finish(TrainingOutcome& outcome) const;
  [[nodiscard]] Seconds since_start() const { return seat_.clock.now(); }

  const Recipe& recipe_;
  const runtime::Job& job_;
  const Data& data_;
  const Observer& observer_;
  const runtime::Seat& seat_;
  Course course_;
  StageId loss_stage_;
  schedule::Routes routes_;
  model::MemoryMeter meter_;
  runtime::Worker worker_;
  Stretch last_stretch_;      // the stretch that is trained, or was trained last
  std::int64_t samples_ = 0;  // samples trained so far; only at worker 0
  Seconds evaluating_{0};     // time spent on evaluation so far
  double loss_ = 0;
  std::optional<Evaluation> last_;
  std::optional<NewsReader> reader_;  // only at worker 0, while a segment is trained
  std::optional<Saver> saver_;        // if checkpoints are written
};

void TrainingWorker::tell_loss(const runtime::Loss& loss) const {
  if (reader_) reader_->check();
  send_loss(seat_.channels.news, loss);
}

void TrainingWorker::note_loss(const runtime::Loss& loss) {
  samples_ += loss.samples;
  loss_ = loss.loss;
  observer_.step({.minibatch = course_.counted(samples_) - 1,
                  .minibatches = course_.counted(course_.all_samples()),
                  .samples = samples_,
                  .loss = loss.loss,
                  .seconds = since_start(),
                  .training_seconds = since_start() - evaluating_});
}

systems::ScheduleOptions TrainingWorker::options_of(const Extent& extent) const {
  systems::ScheduleOptions options = recipe_.schedule_options;
  options.minibatches = extent.minibatches;
  options.last_microbatches = extent.last;
  return options;
}

Schedule TrainingWorker::schedule_of(const Extent& extent) const {
  if (recipe_.schedule != nullptr) return *recipe_.schedule;
  return systems::schedule_for(job_.plan, options_of(extent));
}

std::int64_t TrainingWorker::samples_of_last(std::int64_t from, std::int64_t count) const {
  const std::int64_t first = last_stretch_.first + from;
  return course_.batches().samples_until(first + count) - course_.batches().samples_until(first);
}

void TrainingWorker::train(const Stretch& stretch) {
  const Extent extent = course_.extent(stretch);
  const Schedule schedule = schedule_of(extent);
  const ItemFeed feed(*data_.training, course_.batches(), extent, stretch.first);
  if (seat_.me == WorkerId{0})
    reader_.emplace(seat_.channels.news, seat_.channels.values, routes_, loss_stage_,
                    extent.minibatches, [this](const runtime::Loss& loss) { note_loss(loss); });
  try {
    worker_.run({schedule, extent, feed, course_.random_number(stretch.first)});
  } catch (const transport::Aborted&) {
    if (reader_) reader_->finish();  // if the reader has failed, throws its failure instead
    throw;
  }
  if (reader_) reader_->finish();
  reader_.reset();
}

void TrainingWorker::save(const Stretch& stretch) {
  const std::int64_t samples = course_.samples_after(stretch);
  const std::int64_t of_data = data_.training->samples();
  SavedStep step{.position = {.step = course_.counted(samples),
                              .samples = samples,
                              .epoch = samples / of_data,
                              .samples_of_epoch = samples % of_data},
                 .random = {.branch = job_.random_branch,
                            .minibatch = course_.random_number(stretch.first + stretch.count)},
                 .loss = loss_};
  if (last_) step.held_out_loss = last_->score.mean_loss();
  saver_->save(runtime::copy_state(worker_, seat_.channels.control), step);
}

void TrainingWorker::evaluate(std::int64_t epoch) {
  const Batches batches(data_.held_out->samples(), course_.batch(), job_.seed, /*shuffle=*/false);
  const std::int64_t all = batches.per_epoch();
  const std::int64_t step = plan::worker_count(job_.plan);
  const Seconds began = since_start();
  runtime::Pace pace(seat_.channels.control, job_.patience);
  for (std::int64_t first = 0; first < all; first += step) {
    if (first > 0) pace.next();
    const std::int64_t count = std::min(step, all - first);
    const Extent extent = course_.cut(batches, first + count - 1, count);
    const Schedule schedule = schedule::evaluation(job_.plan, extent, job_.replicas);
    const ItemFeed feed(*data_.held_out, batches, extent, first);
    worker_.run({schedule, extent, feed, first});
    if (seat_.me == WorkerId{0})
      observer_.evaluating({epoch, first + count, all, since_start() - began});
  }
  pace.finish();
  const runtime::Score score =
      runtime::sum_scores(worker_.score(), seat_.channels.control, job_.patience);
  if (seat_.me != WorkerId{0}) return;
  evaluating_ += since_start() - began;
  last_ = Evaluation{epoch, course_.counted(samples_), score, since_start()};
  observer_.evaluation(*last_);
}

void TrainingWorker::finish(TrainingOutcome& outcome) const {
  systems::Measured& measured = outcome.measured;
  Bytes sent;
  for (const runtime::WorkerResult& result : outcome.workers) {
    measured.memory.push_back(result.peak_memory);
    sent += result.sent;
  }
  std::vector<timeline::Event> events = merged_events(outcome.workers);
  const Extent extent = course_.extent(last_stretch_);
  const schedule::Rules rules = schedule_of(extent).rules;
  const timeline::AccountRule rule =
      systems::account_rule(job_.plan, rules.traits, options_of(extent));
  timeline::Account account(rule);
  for (const timeline::Event& event : events) account.add(event);
  measured.summary = account.finish();
  measured.minibatches = course_.counted(samples_);
  measured.samples = samples_;
  measured.first_timed = course_.counted(course_.samples_before(last_stretch_));
  if (measured.summary.minibatches_per_second() > 0)
    measured.samples_per_second =
        static_cast<double>(samples_of_last(rule.warm_up, measured.summary.measured_minibatches)) /
        to_seconds(measured.summary.measured_time);
  measured.samples_per_update =
      std::min(systems::samples_per_update(job_.plan, rules.traits, recipe_.batch),
               static_cast<double>(data_.training->samples()));
  measured.staleness = rules.traits.asynchronous
                           ? std::vector{staleness_of(outcome.workers)}
                           : systems::staleness_of(events, job_.plan.stages.size());
  measured.bytes_per_sample =
      static_cast<double>(sent.count) / static_cast<double>(samples_ - recipe_.beginning.samples);
  measured.loss = loss_;
  measured.seconds = since_start();
  if (last_) {
    measured.held_out_loss = last_->score.mean_loss();
    measured.accuracy = last_->accuracy();
    measured.perplexity = last_->perplexity();
  }
  if (!job_.keep_timeline) return;
  const std::int64_t in_one = course_.batch() / recipe_.batch;
  for (timeline::Event& event : events)
    event.op = counted_from(measured.first_timed, in_one, event.op);
  measured.timeline.events = std::move(events);
}

}  // namespace

std::optional<double> Evaluation::accuracy() const {
  if (score.predictions == 0) return std::nullopt;
  return score.accuracy();
}

std::optional<double> Evaluation::perplexity() const {
  if (score.predictions <= score.samples) return std::nullopt;
  return std::exp(score.mean_loss());
}

schedule::Replicas check_recipe(const Recipe& recipe, const runtime::Job& job) {
  const schedule::Schedule schedule =
      recipe.schedule != nullptr ? *recipe.schedule
                                 : systems::schedule_for(job.plan, recipe.schedule_options);
  if (job.clip_norm && (!schedule.rules.traits.flushes || schedule.rules.traits.asynchronous))
    throw CannotMeet("`clip`: " + job.plan.system +
                     " updates each stage while others are still at work, so the norm of all "
                     "gradients is never known; choose a system that flushes (" +
                     systems::systems_with(
                         [](const systems::System& system) { return !system.traits.is_stale(); }) +
                     ")");
  if (recipe.batch < job.plan.microbatches)
    throw CannotMeet("a minibatch of " + std::to_string(recipe.batch) +
                     " samples cannot be cut into " + std::to_string(job.plan.microbatches) +
                     " microbatches: choose a larger `batch` or fewer `microbatches`");
  return schedule.rules.traits.replicas;
}

TrainingOutcome train_on_threads(const Recipe& recipe, const runtime::Job& job, const Data& data,
                                 const Observer& observer,
                                 const std::optional<transport::Links>& link) {
  std::optional<TrainingOutcome> outcome;
  const auto ledger = model::make_memory_ledger();
  runtime::run_on_threads(plan::worker_count(job.plan), link, [&](const runtime::Seat& seat) {
    auto own = TrainingWorker(recipe, job, data, observer, seat, ledger).run();
    if (own) outcome = std::move(own);
  });
  return std::move(outcome.value());
}

std::optional<TrainingOutcome> train_as_process(transport::MpiWorld& world, const Recipe& recipe,
                                                const runtime::Job& job, const Data& data,
                                                const Observer& observer,
                                                const std::optional<transport::Links>& link) {
  std::optional<TrainingOutcome> outcome;
  const auto ledger = model::make_memory_ledger();
  runtime::run_as_process(world, job.devices, link, [&](const runtime::Seat& seat) {
    outcome = TrainingWorker(recipe, job, data, observer, seat, ledger).run();
  });
  return outcome;
}

}  // namespace pipedream::train
