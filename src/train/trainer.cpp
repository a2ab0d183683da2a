#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/error.h"
#include "core/match.h"
#include "model/memory_meter.h"
#include "model/weights_file.h"
#include "runtime/pace.h"
#include "systems/simulation.h"
#include "train/course.h"
#include "train/far_files.h"
#include "train/item_feed.h"
#include "train/news.h"
#include "train/scoring.h"
#include "train/speed_reports.h"
#include "train/stopper.h"

namespace pipedream::train {
namespace {

using schedule::Extent;
using schedule::Schedule;

// Processes give a sign of life every second. A shorter silence than this says nothing.
constexpr std::chrono::milliseconds kShortestSilence{5'000};
// The longest wait for a worker that writes to its disk.
constexpr std::chrono::milliseconds kPatienceWithDisks{600'000};

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

EvaluationTimes evaluation_times(const Recipe& recipe) {
  if (!recipe.evaluate) return {};
  return {.every = recipe.evaluate_every, .at_epochs = !recipe.evaluate_every, .at_end = true};
}

CourseOptions course_options(const Recipe& recipe, const runtime::Job& job,
                             const data::DataSet& training) {
  return {.samples = training.samples(),
          .batch = recipe.batch,
          .epochs = recipe.epochs,
          .minibatches = recipe.minibatches,
          .extent = recipe.extent,
          .seed = job.seed,
          .checkpoints = recipe.saving ? recipe.checkpoints : CheckpointTimes{},
          .evaluations = evaluation_times(recipe),
          .beginning = recipe.beginning};
}

RateCurve rate_curve(const Recipe& recipe, const runtime::Job& job, const Course& course,
                     const data::DataSet& training) {
  const cost::Traits& traits = recipe.schedule != nullptr
                                   ? recipe.schedule->rules.traits
                                   : systems::find_system(job.plan.system).traits;
  return {recipe.rate,
          {.epoch = training.samples(),
           .all = course.all_samples(),
           .update = systems::samples_per_update(job.plan, traits, recipe.batch),
           .batch = recipe.batch,
           .minibatches = course.batch() / recipe.batch}};
}

// Returns `job` with the learning rate's changes, and with what tells a worker its memory.
runtime::Job job_with(runtime::Job job, const RateCurve& curve, const model::MemoryMeter& meter) {
  job.rate = curve;
  job.memory_now = [&meter] { return Bytes{meter.live()}; };
  return job;
}

// Runs one worker through a whole training. Used by the thread of this worker; note_loss() runs on
// the thread of `reader_`.
class TrainingWorker {
 public:
  TrainingWorker(const Recipe& recipe, const runtime::Job& job, const data::Data& data,
                 const Observer& observer, const runtime::Seat& seat,
                 std::shared_ptr<model::MemoryLedger> ledger)
      : recipe_(recipe),
        data_(data),
        observer_(observer),
        seat_(seat),
        course_(course_options(recipe, job, *data.training), job.plan, job.replicas),
        goal_(recipe.goal, data.training->samples()),
        rate_(rate_curve(recipe, job, course_, *data.training)),
        meter_(std::move(ledger), job.device_of(seat.me)),
        job_(job_with(job, rate_, meter_)),
        loss_stage_(loss_stage_of(job)),
        routes_(job.plan, job.network.graph, job.replicas),
        sent_(seat.channels.control.workers()),
        values_(seat.channels.values, sent_),
        collectives_(seat.channels.collectives, sent_),
        served_(seat.channels.served, sent_),
        worker_(job_, seat.me, counted_channels(), seat.clock,
                [this](const runtime::Loss& loss) { tell_loss(loss); }),
        reporter_(worker_.recorder(), sent_, seat.channels.news) {
    if (seat.me == WorkerId{0}) reports_.emplace(seat.channels.news);
    if (seat.me == WorkerId{0} && recipe.expected)
      watch_.emplace(*recipe.expected, recipe.slow_after);
    if (recipe.initial) runtime::load_weights(worker_, recipe.initial);
    if (recipe.resumes) load_checkpoint();
    if (recipe.saving)
      saver_.emplace(*recipe.saving, model::metadata_of(job.network, data.facts),
                     seat.channels.saves, sees_run_folder());
    if (recipe.saving && recipe.is_stopped)
      stopper_.emplace(seat.channels.stops, Stopper::Rules{recipe.is_stopped,
                                                           [this](std::int64_t begun) {
                                                             return course_.end_after(begun);
                                                           },
                                                           job.patience});
    samples_ = recipe.beginning.samples;
    loss_ = recipe.beginning.loss;
  }

  // Only worker 0 returns the whole outcome; the others set only `interrupted`.
  TrainingOutcome run() {
    TrainingOutcome outcome;
    check_goal();
    outcome.interrupted = train_all() < course_.minibatches() && !goal_.has_ended();
    if (stopper_) stopper_->finish();
    if (saver_) {
      finish_saving();
      outcome.unsaved = saver_->failure();
      outcome.measured.checkpoints = saver_->written();
    }
    outcome.workers =
        runtime::gather(worker_, Bytes{meter_.peak()}, seat_.channels.control, job_.patience);
    // The outcome shares the workers' memory, so the averages stay in it.
    if (recipe_.uses_averages) runtime::swap_with_averages(worker_);
    outcome.weights = runtime::gather_weights(worker_, job_, seat_.channels.control);
    if (seat_.me == WorkerId{0}) finish(outcome);
    return outcome;
  }

 private:
  // The channels, with those counted that carry the training.
  [[nodiscard]] runtime::Channels counted_channels() {
    const runtime::Channels& all = seat_.channels;
    return {values_,  collectives_, served_,   all.control,
            all.news, all.saves,    all.stops, all.device_sums};
  }
  [[nodiscard]] std::chrono::milliseconds patience_with_disks() const {
    return std::max(job_.patience, kPatienceWithDisks);
  }
  // Loads the state of the checkpoint. Workers that do not see it get its tensors from worker 0.
  void load_checkpoint();
  [[nodiscard]] bool sees_run_folder() const {
    if (recipe_.sees_files) return recipe_.sees_files(seat_.me);
    return sees_folder(seat_.channels.control, recipe_.saving->folder, patience_with_disks());
  }
  // Trains to the end, or to where the training is stopped. Returns how many minibatches were
  // trained.
  [[nodiscard]] std::int64_t train_all();
  // Trains a stretch, or its beginning if the training is stopped within it. Returns what was
  // trained.
  [[nodiscard]] Stretch train(const Stretch& stretch);
  // Where the training ends, if that is not after `minibatch`.
  [[nodiscard]] std::optional<std::int64_t> end_before(std::int64_t minibatch) {
    return stopper_ ? stopper_->end_before(minibatch) : std::nullopt;
  }
  // Calls `what` while the stages' weights are their averages, if the optimiser keeps any.
  void with_averages(const std::function<void()>& what) {
    if (recipe_.uses_averages) runtime::swap_with_averages(worker_);
    what();
    if (recipe_.uses_averages) runtime::swap_with_averages(worker_);
  }
  // Evaluates the state after `stretch`.
  void evaluate(const Stretch& stretch);
  // The score of all workers on the first `wanted` held-out samples. `progress` is called at worker
  // 0 with the minibatches done and the number of all.
  [[nodiscard]] runtime::Score score_of(
      std::int64_t wanted,
      const std::function<void(std::int64_t done, std::int64_t all)>& progress);
  // Throws before anything is trained if evaluations do not give what the goal is about.
  void check_goal() {
    if (!goal_.needs_predictions()) return;
    const Seconds began = since_start();
    goal_.want_figure(score_of(1, [](auto, auto) {}));
    evaluating_ += since_start() - began;
  }
  // Waits until all workers have written what they have to write.
  void finish_saving() {
    saver_->finish();
    runtime::meet(seat_.channels.control, patience_with_disks());
  }
  // Has a checkpoint of the state after `stretch` written. `evaluated`: whether this state was.
  void save(const Stretch& stretch, bool evaluated);
  // The schedule of a stretch, and the options that it is made with.
  [[nodiscard]] Schedule schedule_of(const Extent& extent) const;
  [[nodiscard]] systems::ScheduleOptions options_of(const Extent& extent) const;
  // Samples in `count` minibatches of the timed stretch, from its number `from` on.
  [[nodiscard]] std::int64_t samples_of_timed(std::int64_t from, std::int64_t count) const;
  void tell_loss(const runtime::Loss& loss) const;
  void note_loss(const runtime::Loss& loss);
  // Looks about once a second at what the workers report.
  void explain_speed();
  void finish(TrainingOutcome& outcome) const;
  [[nodiscard]] std::optional<systems::GoalResult> goal_result() const;
  // Fills in what follows from the events of the timed stretch. `sent`: by all workers.
  void finish_times(TrainingOutcome& outcome, Bytes sent) const;
  [[nodiscard]] Seconds since_start() const { return seat_.clock.now(); }

  const Recipe& recipe_;
  const data::Data& data_;
  const Observer& observer_;
  const runtime::Seat& seat_;
  Course course_;
  GoalWatch goal_;
  RateCurve rate_;
  model::MemoryMeter meter_;
  runtime::Job job_;
  StageId loss_stage_;
  schedule::Routes routes_;
  transport::SentBytes sent_;
  transport::Counting values_;
  transport::Counting collectives_;
  transport::Counting served_;
  runtime::Worker worker_;
  SpeedReporter reporter_;
  std::optional<SpeedReports> reports_;  // only at worker 0
  std::optional<SpeedWatch> watch_;      // only at worker 0, and with Recipe::expected
  std::string slow_cause_;
  Nanos explained_{0};
  // The stretch whose times are recorded: the longest so far, and of several the last. It has no
  // minibatches if nothing was trained.
  Stretch timed_;
  std::int64_t samples_ = 0;  // samples trained so far; only at worker 0
  Seconds evaluating_{0};     // time spent on evaluation so far
  double loss_ = 0;
  std::optional<Evaluation> last_;
  std::optional<NewsReader> reader_;  // only at worker 0, while a segment is trained
  std::optional<Saver> saver_;        // if checkpoints are written
  std::optional<Stopper> stopper_;    // if the training may be stopped
};

void TrainingWorker::tell_loss(const runtime::Loss& loss) const {
  if (reader_) reader_->check();
  send_loss(seat_.channels.news, loss);
}

void TrainingWorker::note_loss(const runtime::Loss& loss) {
  samples_ += loss.samples;
  loss_ = loss.loss;
  reports_->add_samples(loss.samples, seat_.clock.now());
  explain_speed();
  observer_.step({.minibatch = course_.counted(samples_) - 1,
                  .minibatches = course_.counted(course_.all_samples()),
                  .samples = samples_,
                  .resumed_from = recipe_.beginning.samples,
                  .loss = loss.loss,
                  .learning_rate = recipe_.learning_rate * rate_.of_first_stage(samples_),
                  .seconds = since_start(),
                  .training_seconds = since_start() - evaluating_,
                  .slow_cause = slow_cause_});
}

void TrainingWorker::explain_speed() {
  const Nanos now = seat_.clock.now();
  if (!watch_ || now - explained_ < std::chrono::seconds(1)) return;
  explained_ = now;
  const std::optional<Speeds> speeds = reports_->speeds();
  slow_cause_ = speeds ? slow_cause(*speeds, *recipe_.expected).value_or("") : "";
  if (!speeds) return;
  if (const auto odd = watch_->look(*speeds, now)) observer_.odd_workers(*odd);
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

std::int64_t TrainingWorker::samples_of_timed(std::int64_t from, std::int64_t count) const {
  const std::int64_t first = timed_.first + from;
  return course_.batches().samples_until(first + count) - course_.batches().samples_until(first);
}

void TrainingWorker::load_checkpoint() {
  transport::Transport& control = seat_.channels.control;
  const schedule::Rules rules = schedule_of({1, job_.plan.microbatches, 1}).rules;
  const auto patience = patience_with_disks();
  const bool sees = recipe_.resumed && (!recipe_.sees_files || recipe_.sees_files(seat_.me));
  const std::vector<WorkerId> blind = runtime::those_without(control, sees, patience);
  if (!sees) {
    TensorClient client(seat_.channels.saves, patience);
    runtime::load_state(
        worker_, rules, [&](const std::string& name) { return client.find(name); }, control);
    return;
  }
  std::optional<TensorServer> server;
  if (seat_.me == WorkerId{0} && !blind.empty())
    server.emplace(seat_.channels.saves, recipe_.resumed, blind);
  runtime::load_state(worker_, rules, recipe_.resumed, control);
}

std::int64_t TrainingWorker::train_all() {
  Stretch stretch;
  std::int64_t next = 0;
  while (next < course_.minibatches()) {
    if (end_before(next)) {
      if (next > 0 && !stretch.saves) save(stretch, /*evaluated=*/false);
      return next;
    }
    stretch = train(course_.stretch_from(next));
    next += stretch.count;
    if (stretch.evaluates) evaluate(stretch);
    const bool is_last = goal_.has_ended() && saver_ && recipe_.checkpoints.at_end;
    if (stretch.saves || is_last) save(stretch, stretch.evaluates);
    if (goal_.has_ended()) break;
  }
  return next;
}

Stretch TrainingWorker::train(const Stretch& stretch) {
  const Extent extent = course_.extent(stretch);
  const Schedule schedule = schedule_of(extent);
  const ItemFeed feed(*data_.training, course_.batches(), extent, stretch.first,
                      recipe_.beginning.samples);
  reporter_.begin();
  if (reports_) reports_->begin(seat_.clock.now());
  if (watch_) watch_->begin(seat_.clock.now());
  if (seat_.me == WorkerId{0})
    reader_.emplace(seat_.channels.news, seat_.channels.values, *reports_, routes_, loss_stage_,
                    extent.minibatches, [this](const runtime::Loss& loss) { note_loss(loss); });
  std::int64_t count = stretch.count;
  const auto end = [&](std::int64_t minibatch) -> std::optional<std::int64_t> {
    const auto found = end_before(stretch.first + minibatch);
    if (!found) return std::nullopt;
    return count = *found - stretch.first;
  };
  const bool timed = stretch.count >= timed_.count;
  try {
    runtime::Segment segment{schedule, extent, feed, course_.seeding_number(stretch.first), timed};
    if (stopper_) segment.end_before = end;
    segment.after_op = [this] { reporter_.tick(); };
    worker_.run(segment);
    reporter_.pause();
    if (count < stretch.count && worker_.stages().contains(loss_stage_))
      send_end_of_losses(seat_.channels.news);
  } catch (const transport::Aborted&) {
    if (reader_) reader_->finish();  // if the reader has failed, throws its failure instead
    throw;
  }
  if (reader_) reader_->finish();
  reader_.reset();
  const Stretch trained = count < stretch.count ? course_.shortened(stretch, count) : stretch;
  if (timed) timed_ = trained;
  return trained;
}

void TrainingWorker::save(const Stretch& stretch, bool evaluated) {
  const std::int64_t samples = course_.samples_after(stretch);
  const std::int64_t of_data = data_.training->samples();
  SavedStep step{.position = {.step = course_.counted(samples),
                              .samples = samples,
                              .epoch = samples / of_data,
                              .samples_of_epoch = samples % of_data,
                              .minibatch = course_.seeding_number(stretch.first + stretch.count)},
                 .loss = loss_};
  if (evaluated && last_) step.held_out_loss = last_->score.mean_loss();
  finish_saving();  // before the copies are taken, so that there is one copy of the state at most
  saver_->save(runtime::copy_state(worker_, seat_.channels.control), step);
}

runtime::Score TrainingWorker::score_of(
    std::int64_t wanted, const std::function<void(std::int64_t done, std::int64_t all)>& progress) {
  const ScoredData scored{*data_.held_out, evaluated_samples(*data_.held_out, job_.network, wanted),
                          course_.batch()};
  return score_on(scored, job_, worker_, seat_.channels.control, progress);
}

void TrainingWorker::evaluate(const Stretch& stretch) {
  const Seconds began = since_start();
  const auto progress = [&](std::int64_t done, std::int64_t all) {
    observer_.evaluating({stretch.epoch, done, all, since_start() - began});
  };
  runtime::Score score;
  with_averages(
      [&] { score = score_of(recipe_.evaluation_samples.value_or(INT64_MAX), progress); });
  const std::int64_t trained = course_.samples_after(stretch);
  goal_.see(score, trained);
  if (seat_.me != WorkerId{0}) return;
  evaluating_ += since_start() - began;
  last_ = Evaluation{.epoch = stretch.epoch,
                     .ends_epoch = stretch.ends_epoch,
                     .minibatches = course_.counted(trained),
                     .samples = trained,
                     .score = score,
                     .seconds = since_start(),
                     .training_seconds = since_start() - evaluating_};
  observer_.evaluation(*last_);
}

std::optional<systems::GoalResult> TrainingWorker::goal_result() const {
  const Goal& goal = recipe_.goal;
  if (!goal.is_set() || !last_) return std::nullopt;
  systems::GoalResult result{.figure = to_text(goal.figure()),
                             .reached = goal_.is_reached(),
                             .best = goal_.best(),
                             .samples = last_->samples,
                             .training = last_->training_seconds};
  if (goal.target) result.wanted = goal.target->wanted;
  if (goal_.is_stalled()) result.stalled_epochs = goal.patience_epochs;
  return result;
}

void TrainingWorker::finish(TrainingOutcome& outcome) const {
  systems::Measured& measured = outcome.measured;
  Bytes sent;
  for (const runtime::WorkerResult& result : outcome.workers) {
    measured.memory.push_back(result.peak_memory);
    sent += result.sent;
  }
  measured.minibatches = course_.counted(samples_);
  measured.samples = samples_;
  measured.resumed_at = course_.counted(recipe_.beginning.samples);
  measured.loss = loss_;
  measured.seconds = since_start();
  if (last_) {
    measured.held_out_loss = last_->score.mean_loss();
    measured.accuracy = last_->accuracy();
    measured.perplexity = last_->perplexity();
    measured.top5 = last_->top5();
  }
  measured.goal = goal_result();
  const schedule::Rules rules = schedule_of({1, job_.plan.microbatches, 1}).rules;
  measured.samples_per_update =
      std::min(systems::samples_per_update(job_.plan, rules.traits, recipe_.batch),
               static_cast<double>(data_.training->samples()));
  measured.first_timed = measured.timed_end = measured.minibatches;
  measured.staleness.resize(job_.plan.stages.size());
  if (timed_.count > 0) finish_times(outcome, sent);
}

void TrainingWorker::finish_times(TrainingOutcome& outcome, Bytes sent) const {
  systems::Measured& measured = outcome.measured;
  std::vector<timeline::Event> events = merged_events(outcome.workers);
  const Extent extent = course_.extent(timed_);
  const schedule::Rules rules = schedule_of(extent).rules;
  const timeline::AccountRule rule =
      systems::account_rule(job_.plan, rules.traits, options_of(extent));
  timeline::Account account(rule);
  for (const timeline::Event& event : events) account.add(event);
  measured.summary = account.finish();
  measured.drain = measured.summary.drain(extent.minibatches);
  measured.first_timed = course_.counted(course_.samples_before(timed_));
  measured.timed_end = course_.counted(course_.samples_after(timed_));
  if (measured.summary.minibatches_per_second() > 0)
    measured.samples_per_second =
        static_cast<double>(samples_of_timed(rule.warm_up, measured.summary.measured_minibatches)) /
        to_seconds(measured.summary.measured_time);
  measured.staleness = rules.traits.asynchronous
                           ? std::vector{staleness_of(outcome.workers)}
                           : systems::staleness_of(events, job_.plan.stages.size());
  measured.bytes_per_sample =
      static_cast<double>(sent.count) / static_cast<double>(samples_ - recipe_.beginning.samples);
  if (!job_.keep_timeline) return;
  const std::int64_t in_one = course_.batch() / recipe_.batch;
  for (timeline::Event& event : events)
    event.op = counted_from(measured.first_timed, in_one, event.op);
  measured.timeline.events = std::move(events);
}

}  // namespace

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
  if (job.network.has_fixed_batch &&
      (job.plan.microbatches > 1 ||
       systems::minibatches_in_one(job.plan, schedule.rules.traits.replicas) > 1))
    throw CannotMeet("'" + job.network.name + "' computes minibatches of exactly " +
                     std::to_string(recipe.batch) + " samples, and " + job.plan.system +
                     " cuts or joins them: choose `microbatches` 1 or another `system`");
  if (recipe.batch < job.plan.microbatches)
    throw CannotMeet("a minibatch of " + std::to_string(recipe.batch) +
                     " samples cannot be cut into " + std::to_string(job.plan.microbatches) +
                     " microbatches: choose a larger `batch` or fewer `microbatches`");
  return schedule.rules.traits.replicas;
}

TrainingOutcome train_on_threads(const Recipe& recipe, const runtime::Job& job,
                                 const data::Data& data, const Observer& observer,
                                 const std::optional<transport::Links>& link) {
  TrainingOutcome outcome;
  const auto ledger = model::make_memory_ledger();
  runtime::run_on_threads(
      plan::worker_count(job.plan), link,
      [&](const runtime::Seat& seat) {
        TrainingOutcome own = TrainingWorker(recipe, job, data, observer, seat, ledger).run();
        if (seat.me == WorkerId{0}) outcome = std::move(own);
      },
      job.threads_to_bind());
  return outcome;
}

TrainingOutcome train_as_process(transport::MpiWorld& world, const Recipe& recipe,
                                 const runtime::Job& job, const data::Data& data,
                                 const Observer& observer,
                                 const std::optional<transport::Links>& link) {
  static_assert(std::is_trivially_copyable_v<runtime::OpPlace> &&
                sizeof(runtime::OpPlace) <= transport::kMostNoted);
  world.set_patience(std::max(job.patience, kShortestSilence));
  runtime::Job noting = job;
  noting.note_op = [&world](const runtime::OpPlace& place) {
    world.note(std::as_bytes(std::span(&place, 1)));
  };
  TrainingOutcome outcome;
  const auto ledger = model::make_memory_ledger();
  runtime::run_as_process(
      world, job.devices, link,
      [&](const runtime::Seat& seat) {
        outcome = TrainingWorker(recipe, noting, data, observer, seat, ledger).run();
      },
      job.threads_to_bind());
  world.note({});
  return outcome;
}

std::string describe(const transport::LostProcess& lost, const std::string& host) {
  std::string text = "worker " + std::to_string(lost.rank) + " (process " +
                     std::to_string(lost.process) + " on " + host + ") was killed or crashed";
  runtime::OpPlace place{};
  if (lost.noted.size() != sizeof(place)) return text + " outside of training";
  std::memcpy(&place, lost.noted.data(), sizeof(place));
  return text + " in " + runtime::to_text(place);
}

}  // namespace pipedream::train
