#include "runtime/worker.h"

#include <cmath>
#include <thread>

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "core/check.h"
#include "core/error.h"
#include "core/file.h"
#include "core/log.h"
#include "model/threads.h"
#include "runtime/failure.h"
#include "runtime/tensor_message.h"
#include "schedule/cut.h"
#include "schedule/lower.h"

namespace pipedream::runtime {

using schedule::Item;
using schedule::Kind;
using schedule::Replicas;

namespace {

// How many losses a worker may have queued on its device without having read them. Enough to keep
// the device busy, and few enough that a loss that is not finite is noticed soon.
constexpr std::size_t kMostPendingLosses = 8;

// How many items are read before they are needed: one is read while another waits to be used.
constexpr std::size_t kMostItemsAhead = 2;
// How many ops of the program are searched for them.
constexpr std::size_t kMostOpsAhead = 128;

// Called in a catch block: whether the failure is that some worker, this one or another, waited too
// long for a message or lost its peer.
bool is_stall() {
  try {
    throw;
  } catch (const transport::Aborted& aborted) {
    return reason_is_lost(aborted.what());
  } catch (const WorkerLost&) {
    return true;
  } catch (...) {
    return false;
  }
}

void divide(model::Tensors& gradients, double divisor) {
  for (at::Tensor& gradient : gradients)
    if (gradient.defined()) gradient.div_(divisor);
}

}  // namespace

Worker::Worker(const Job& job, WorkerId me, const Channels& channels, const Clock& clock,
               std::function<void(const Loss&)> on_loss)
    : job_(job),
      me_(me),
      channels_(channels),
      device_(job.device_of(me)),
      stream_(model::new_stream(device_)),
      copies_(device_),
      on_loss_(std::move(on_loss)),
      routes_(job.plan, job.network.graph, job.replicas),
      order_(job.network.graph, plan::stage_of_each_layer(job.plan, job.network.graph)),
      recorder_(me, clock, job.keep_timeline, device_, job.memory_now),
      mailbox_(channels.values, routes_, order_, copies_, clock, job.patience),
      replica_gradients_(channels.collectives, channels.device_sums, routes_, job.averaging,
                         copies_, job.patience),
      reader_([this](StageId stage, const Item& item) { return read(stage, item); }) {
  model::use_threads(job.threads);
  for (const Straggler& straggler : job.stragglers)
    if (straggler.worker == me) held_back_ = 1 / straggler.speed - 1;
  if (job.clip_norm) clipper_.emplace(*job.clip_norm, job.plan, channels.control, job.patience);
  for (std::size_t s = 0; s < job.plan.stages.size(); ++s) {
    const auto id = id_at<StageId>(s);
    const auto replica = routes_.replica(id, me);
    if (!replica) continue;
    stages_.try_emplace(
        id, job.network, routes_, order_, id,
        StageOptions{.seed = job.seed,
                     .device = device_,
                     .replica = job.replicas == Replicas::kShareItems ? *replica : 0,
                     .precision = job.precision});
    replica_of_stage_[id] = {*replica, routes_.replicas(id), job.make_optimiser()};
  }
}

Bytes Worker::sent() const {
  return mailbox_.sent() + replica_gradients_.sent() + (served_ ? served_->sent() : Bytes{0}) -
         sent_in_evaluations_;
}

// The channel `collectives` carries all-reduces or pushes to parameter servers, never both.
void Worker::begin_averaging(const schedule::Rules& rules) {
  if (rules.traits.asynchronous) {
    const StageId stage{0};
    if (!served_)
      served_ = std::make_unique<AsynchronousWeights>(
          AsynchronousWeights::Channels{channels_.collectives, channels_.served},
          job_.plan.stage(stage).workers, stages_.at(stage), copies_, job_.averaging.buckets,
          job_.make_optimiser(), job_.threads, job_.patience);
    return;
  }
  for (auto& [id, stage] : stages_)
    if (rules.trains && replica_of_stage_.at(id).replicas > 1 && !replica_gradients_.has(id))
      replica_gradients_.add(id, stage);
}

void Worker::run(const Segment& segment) {
  segment_ = &segment;
  recorder_.begin(segment.schedule.rules.trains && segment.recorded);
  const Bytes sent = mailbox_.sent();
  if (segment.schedule.rules.trains) score_ = {};
  clipped_ = {0};
  mailbox_.begin([&segment](const Item& item) { return segment.feed.samples(item); });
  for (auto& [id, stage] : stages_) stage.begin(segment.schedule.rules, segment.first);
  begin_averaging(segment.schedule.rules);
  const auto forget = [this](const Segment*) { reader_.drop(); };  // before the segment's feed ends
  const std::unique_ptr<const Segment, decltype(forget)> reading(&segment, forget);
  run_program();
  end_segment([this] { take_losses(0); });
  if (segment.schedule.rules.traits.asynchronous) end_segment([this] { served_->settle(); });
  recorder_.finish();
  if (!segment.schedule.rules.trains) sent_in_evaluations_ += mailbox_.sent() - sent;
}

void Worker::run_program() {
  schedule::OwnProgram program(segment_->schedule, routes_, me_);
  std::int64_t begun = -1;  // the latest minibatch that was begun
  schedule::Cut cut;
  looked_ahead_ = 0;
  while (const schedule::Op* next = program.peek()) {
    const schedule::Op op = *next;
    read_ahead(program);
    program.pop();
    --looked_ahead_;
    if (segment_->end_before) {
      const auto minibatch = schedule::minibatch_in_program(
          op, [&](std::size_t ahead) { return program.peek(ahead); });
      if (!cut.has_end() && minibatch.value_or(begun) > begun)
        if (const auto end = segment_->end_before(begun = *minibatch)) cut.end_before(*end);
      if (cut.is_done(stages_.size())) break;
      if (!cut.keeps(op, minibatch)) continue;
    }
    recorder_.enter(op);
    if (job_.note_op) job_.note_op(place_of(op));
    try {
      if (job_.before_op) job_.before_op(me_, op);
      if (const auto* backward = std::get_if<schedule::Backward>(&op))
        expect_release(backward->stage, program);
      run_op(op);
      if (segment_->after_op) segment_->after_op();
    } catch (...) {  // layers and data sets of the library's users may throw anything
      fail(to_text(place_of(op)));
    }
  }
}

void Worker::read_ahead(schedule::OwnProgram& program) {
  while (looked_ahead_ == 0 ||
         (looked_ahead_ < kMostOpsAhead && reader_.waiting() < kMostItemsAhead)) {
    const schedule::Op* op = program.peek(looked_ahead_);
    if (op == nullptr) return;
    ++looked_ahead_;
    if (const auto* load = std::get_if<schedule::Load>(op)) reader_.want(load->stage, load->item);
  }
}

void Worker::expect_release(StageId stage, schedule::OwnProgram& program) {
  const schedule::Op* release =
      schedule::release_of_backward(stage, [&](std::size_t ahead) { return program.peek(ahead); });
  if (release == nullptr) return;
  if (const auto* reduce = std::get_if<schedule::Reduce>(release))
    replica_gradients_.expect(*reduce);
  else
    served_->expect(rate_of(std::get<schedule::Push>(*release)));
}

void Worker::end_segment(const std::function<void()>& what) {
  try {
    what();
  } catch (...) {
    fail("when its program had ended");
  }
}

OpPlace Worker::place_of(const schedule::Op& op) const {
  const auto minibatch = schedule::minibatch_of(op);
  return {op, routes_.stage_of(op), minibatch ? segment_->first + *minibatch : -1};
}

std::string to_text(const OpPlace& place) {
  std::string text = schedule::to_text(place.op, true);
  text += " (stage " + std::to_string(place.stage.value);
  if (place.minibatch >= 0) text += ", minibatch " + std::to_string(place.minibatch);
  return text + ")";
}

// The other replicas are told the reason explicitly, even if it is a third worker's failure that
// they may not have heard of yet. Otherwise they would only see that an all-reduce under way was
// torn down.
void Worker::fail(const std::string& place) {
  if (is_stall()) note_stall();
  try {
    rethrow_at("worker " + std::to_string(me_.value) + ", " + place + ": ");
  } catch (const transport::Aborted& aborted) {
    replica_gradients_.abort(aborted.what());
    throw;
  } catch (...) {
    replica_gradients_.abort(to_reason(std::current_exception()));
    throw;
  }
}

// Errors of writing are only logged, so that they do not hide the failure that led here.
void Worker::note_stall() const {
  if (job_.stall_folder.empty()) return;
  const auto file = job_.stall_folder / ("worker" + std::to_string(me_.value) + "-last-ops.txt");
  try {
    std::filesystem::create_directories(job_.stall_folder);
    write_file_atomically(file, recorder_.recent());
    log_info("worker " + std::to_string(me_.value) + "'s last ops are in " + file.string());
  } catch (const std::exception& error) {
    log_warning(error.what());
  }
}

void Worker::run_op(const schedule::Op& op) {
  std::visit([this](const auto& each) { run(each); }, op);
}

// An op of the compute lane starts when all its waiting is over, so the time waited so far belongs
// to it.
void Worker::record(const schedule::Op& op, const Recorder::Moment& start) {
  hold_back(start.now);
  recorder_.add_compute(op, start, transit_wait_, other_wait_);
  transit_wait_ = other_wait_ = Nanos{0};
}

void Worker::hold_back(Nanos start) const {
  if (held_back_ <= 0) return;
  const double compute = to_seconds(recorder_.now() - start);
  std::this_thread::sleep_for(Seconds(compute * held_back_));
}

Range Worker::share(StageId stage, const Item& item) const {
  const std::int64_t samples = segment_->feed.samples(item);
  if (job_.replicas != Replicas::kShareItems) return {0, samples};
  const StageReplica& part = replica_of_stage_.at(stage);
  return even_part(samples, part.replica, part.replicas);
}

double Worker::loss_weight(StageId stage, const Item& item) const {
  return static_cast<double>(share(stage, item).count) /
         static_cast<double>(segment_->feed.minibatch_samples(item.minibatch));
}

Values Worker::read(StageId stage, const Item& item) const {
  const Range range = share(stage, item);
  Values values;
  for (const model::InputSpec& input : stages_.at(stage).loaded())
    values[job_.network.graph.layer(input.layer).outputs[0]] =
        range.count > 0 ? segment_->feed.load(input, item, range.first, range.count)
                        : at::empty({0});
  return values;
}

// Stages with different numbers of replicas have different minibatches in one update. So the weight
// of an item must not depend on the update, and divisor_of() does the rest.
std::int64_t Worker::samples_of_unit(std::int64_t minibatch) const {
  return segment_->feed.minibatch_samples(job_.plan.accumulate > 1 ? 0 : minibatch);
}

double Worker::gradient_weight(StageId stage, const Item& item) const {
  return static_cast<double>(share(stage, item).count) /
         static_cast<double>(samples_of_unit(item.minibatch));
}

double Worker::divisor_of(const schedule::Update& update) const {
  if (job_.plan.accumulate == 1) return static_cast<double>(update.last - update.first + 1);
  std::int64_t samples = 0;
  for (std::int64_t t = update.first; t <= update.last; ++t)
    samples += segment_->feed.minibatch_samples(t);
  return static_cast<double>(samples) / static_cast<double>(samples_of_unit(update.first));
}

void Worker::run(const schedule::Load& load) {
  const Nanos start = recorder_.now();
  Values& values = loaded_[{load.stage, load.item}];
  // What the reading thread allocated counts as this worker's memory from now on.
  for (const auto& [value, tensor] : reader_.take(load.stage, load.item))
    values[value] = copies_.to_device(device_.is_cpu() ? to_tensor(to_message(tensor)) : tensor);
  const Nanos end = recorder_.now();
  other_wait_ += end - start;
  recorder_.add(load, start, end);
}

void Worker::post(StageId stage, Kind kind, const Item& item, const Values& made) {
  for (const std::size_t t : routes_.made(stage, kind)) {
    const graph::Transfer& transfer = routes_.transfers()[t];
    const auto found = made.find(transfer.value);
    // This replica has no samples of the item, so each receiver's part of it is empty too.
    const at::Tensor tensor = found == made.end() ? at::empty({0}) : found->second;
    mailbox_.post({transfer.value, transfer.to, item, kind}, replica_of_stage_.at(stage).replica,
                  tensor);
  }
}

void Worker::run(const schedule::Forward& forward) {
  Stage& stage = stages_.at(forward.stage);
  Values inputs;
  if (const auto loaded = loaded_.extract({forward.stage, forward.item}); !loaded.empty())
    inputs = std::move(loaded.mapped());
  for (const ValueId value : stage.taken())
    inputs[value] = mailbox_.take({value, forward.stage, forward.item},
                                  replica_of_stage_.at(forward.stage).replica, transit_wait_);
  const Recorder::Moment start = recorder_.moment();
  Values made;
  if (share(forward.stage, forward.item).count > 0) {
    if (segment_->schedule.rules.trains) {
      made = stage.forward(forward.item, forward.weights, inputs);
      if (stage.computes_loss())
        pending_losses_.push_back({forward, copies_.to_host(made.at(job_.network.loss))});
    } else {
      made = stage.evaluate(forward.item, share(forward.stage, forward.item).count, inputs, score_);
    }
  } else if (segment_->schedule.rules.trains && stage.computes_loss()) {
    pending_losses_.push_back({forward, {at::zeros({}), nullptr}});
  }
  inputs.clear();
  record(forward, start);
  take_losses(kMostPendingLosses);
  post(forward.stage, Kind::kActivation, forward.item, made);
}

void Worker::take_losses(std::size_t most) {
  while (!pending_losses_.empty() &&
         (pending_losses_.size() > most || pending_losses_.front().loss.is_there())) {
    add_loss(pending_losses_.front().forward, pending_losses_.front().loss.wait().item<double>());
    pending_losses_.pop_front();
  }
}

void Worker::add_loss(const schedule::Forward& forward, double loss) {
  const std::int64_t minibatch = forward.item.minibatch;
  if (!std::isfinite(loss))
    throw TrainingStopped("the loss of minibatch " + std::to_string(segment_->first + minibatch) +
                          " is " +
                          (std::isnan(loss) ? "nan"
                           : loss > 0       ? "inf"
                                            : "-inf") +
                          ": try a smaller `learning_rate`, or `clip` where the system can; or "
                          "look for such numbers in the data");
  LossSum& running = losses_[minibatch];
  running.loss += loss * loss_weight(forward.stage, forward.item);
  running.samples += share(forward.stage, forward.item).count;
  if (++running.items < segment_->extent.microbatches_of(minibatch)) return;
  if (on_loss_) on_loss_({segment_->first + minibatch, running.loss, running.samples});
  losses_.erase(minibatch);
}

void Worker::run(const schedule::Recompute& recompute) {
  // Waits for the gradients first, as GPipe does (docs/systems.md), although only the backward uses
  // them: activations recomputed earlier would take memory until the gradients arrive.
  gradients_ahead_[{recompute.stage, recompute.item}] =
      take_gradients(recompute.stage, recompute.item);
  const Recorder::Moment start = recorder_.moment();
  if (share(recompute.stage, recompute.item).count > 0)
    stages_.at(recompute.stage).recompute(recompute.item, recompute.weights);
  record(recompute, start);
}

Gradients Worker::take_gradients(StageId stage, const Item& item) {
  if (auto taken = gradients_ahead_.extract({stage, item}); !taken.empty())
    return std::move(taken.mapped());
  Gradients gradients;
  for (const std::size_t t : routes_.taken(stage, Kind::kGradient)) {
    const graph::Transfer& transfer = routes_.transfers()[t];
    gradients[{transfer.value, transfer.to}] =
        mailbox_.take({transfer.value, transfer.to, item, Kind::kGradient},
                      replica_of_stage_.at(stage).replica, transit_wait_);
  }
  return gradients;
}

void Worker::run(const schedule::Backward& backward) {
  const bool second = backward.part == schedule::BackwardPart::kWeight;
  const Gradients gradients = second ? Gradients{} : take_gradients(backward.stage, backward.item);
  const Recorder::Moment start = recorder_.moment();
  Values made;
  if (share(backward.stage, backward.item).count > 0)
    made = stages_.at(backward.stage)
               .backward(backward, gradients, gradient_weight(backward.stage, backward.item));
  record(backward, start);
  if (!second) post(backward.stage, Kind::kGradient, backward.item, made);
}

void Worker::run(const schedule::Send& send) {
  const Nanos start = recorder_.now();
  mailbox_.send(send);
  recorder_.add(send, start, recorder_.now());
}

void Worker::run(const schedule::Recv& recv) {
  const Nanos start = recorder_.now();
  mailbox_.receive(recv);
  recorder_.add(recv, start, recorder_.now());
}

void Worker::run(const schedule::Reduce& reduce) {
  const Nanos start = recorder_.now();
  replica_gradients_.start(reduce);
  reduces_[{reduce.stage, reduce.update}] = recorder_.size();
  recorder_.add(reduce, start, recorder_.now());
}

void Worker::run(const schedule::Await& await) {
  const ReplicaGradients::Waited waited = replica_gradients_.wait(await);
  other_wait_ += waited.others;
  transit_wait_ += waited.transfer;
  record(await, recorder_.moment());
  const auto place = reduces_.extract({await.stage, await.update});
  recorder_.amend(place.mapped(), recorder_.at(waited.began), recorder_.at(waited.ended));
}

void Worker::run(const schedule::Push& push) {
  const Nanos start = recorder_.now();
  served_->push(rate_of(push));
  recorder_.add(push, start, recorder_.now());
}

void Worker::run(const schedule::Pull& pull) {
  const Nanos start = recorder_.now();
  served_->pull(pull.to);
  const Nanos end = recorder_.now();
  transit_wait_ += end - start;
  recorder_.add(pull, start, end);
}

void Worker::run(const schedule::Update& update) {
  const Recorder::Moment start = recorder_.moment();
  Stage& stage = stages_.at(update.stage);
  const StageReplica& part = replica_of_stage_.at(update.stage);
  PD_CHECK(stage.weights().newest() == update.from);
  model::Tensors gradients = part.replicas > 1
                                 ? replica_gradients_.gradients(update.stage, update.to)
                                 : stage.weights().take_gradients();
  double divisor = divisor_of(update);
  if (clipper_) {
    clip(update, divisor, gradients);
    divisor = 1;
  } else if (divisor != 1 && !part.optimiser->divides()) {
    divide(gradients, divisor);
    divisor = 1;
  }
  const auto step = [&](const std::vector<ParameterStep>& steps) {
    part.optimiser->step_all(steps);
  };
  stage.weights().update(update.to, gradients, step,
                         {.divisor = divisor, .rate = rate_of(update.first, update.last)});
  if (part.replicas > 1) replica_gradients_.used_up(update.stage, update.to);
  record(update, start);
}

double Worker::rate_of(std::int64_t first, std::int64_t last) const {
  return job_.rate ? job_.rate(segment_->feed.samples_before(first), last - first + 1) : 1;
}

// The norm is that of the gradients as they are applied, that is, after the division. The first of
// this worker's stages to be updated divides the gradients of all of them, which are complete by
// then, and computes the factor; the other stages use the same factor.
void Worker::clip(const schedule::Update& update, double divisor, model::Tensors& gradients) {
  if (clipped_ != update.to) {
    SquaredNorms norms;
    for (auto& [id, stage] : stages_) {
      model::Tensors own;
      for (const at::Tensor& parameter : stage.weights().parameters())
        own.push_back(parameter.grad());
      model::Tensors& of_stage = id == update.stage ? gradients : own;
      if (divisor != 1) divide(of_stage, divisor);
      add_norms(job_.network, stage.layers(), of_stage, norms);
    }
    clip_factor_ = clipper_->factor(norms);
    clipped_ = update.to;
  }
  if (clip_factor_ < 1)
    for (at::Tensor& gradient : gradients)
      if (gradient.defined()) gradient.mul_(clip_factor_);
}

}  // namespace pipedream::runtime
