#include "timeline/account.h"

#include <algorithm>
#include <cmath>

namespace pipedream::timeline {

using schedule::Backward;
using schedule::Forward;
using schedule::Recompute;

Idle& Idle::operator+=(const Idle& other) {
  fill_drain += other.fill_drain;
  imbalance += other.imbalance;
  transfer += other.transfer;
  wait += other.wait;
  return *this;
}

double Summary::utilisation() const {
  const double all = to_seconds(busy + idle.total());
  return all > 0 ? to_seconds(busy) / all : 0;
}

double Summary::minibatches_per_second() const {
  if (measured_minibatches == 0 || measured_time <= Nanos{0}) return 0;
  return static_cast<double>(measured_minibatches) / to_seconds(measured_time);
}

std::optional<Seconds> Summary::drain(std::int64_t minibatches) const {
  const double rate = minibatches_per_second();
  if (rate <= 0) return std::nullopt;
  return Seconds(std::max(0.0, to_seconds(length) - static_cast<double>(minibatches) / rate));
}

Account::Account(const AccountRule& rule) : rule_(rule) {
  for (const Turns& turns : rule.stages)
    rates_.emplace_back(turns,
                        StageRate::Window{rule.warm_up, rule.extent.minibatches, !rule.flushes});
}

void Account::add(const Event& event) {
  if (!on_compute_lane(event.op)) return;
  last_ = std::max(last_, event.end);
  const std::size_t w = event.worker.index();
  if (w >= workers_.size()) {
    workers_.resize(w + 1);
    known_.resize(w + 1);
  }
  known_[w] = true;
  Worker& worker = workers_[w];
  longest_gap_ = std::max(longest_gap_, event.start - worker.free);
  account_gap(worker, event);
  if (const auto* forward = std::get_if<Forward>(&event.op)) {
    reading_ += event.wait;
    if (forward->stage.index() < rates_.size())
      rates_[forward->stage.index()].begin(forward->item.minibatch);
  }
  const Nanos took = event.end - event.start;
  worker.busy += took;
  if (std::holds_alternative<Recompute>(event.op)) worker.recompute += took;
  worker.free = event.end;
  if (const auto* backward = std::get_if<Backward>(&event.op))
    complete(worker, *backward, event.end);
}

void Account::account_gap(Worker& worker, const Event& event) {
  worker.transfer += event.transfer;
  worker.wait += event.wait;
  const Nanos rest = event.start - worker.free - event.transfer - event.wait;
  if (std::holds_alternative<Forward>(event.op) && worker.seen_backward) {
    worker.wait += worker.since_forward + rest;  // the pipeline neither fills nor drains
    worker.since_forward = Nanos{0};
    return;
  }
  if (worker.seen_backward)
    worker.since_forward += rest;
  else
    worker.fill_drain += rest;
  if (std::holds_alternative<Backward>(event.op)) worker.seen_backward = true;
  if (!rule_.flushes || !std::holds_alternative<schedule::Update>(event.op)) return;
  worker.fill_drain += worker.since_forward;
  worker.since_forward = Nanos{0};
  worker.seen_backward = false;
}

// Counts a minibatch of a stage when the backward of its last item is completed. Of a split
// backward, the weight part is the last.
void Account::complete(Worker& worker, const Backward& backward, Nanos end) {
  const schedule::Item& item = backward.item;
  const std::size_t stage = backward.stage.index();
  if (stage >= rates_.size() || backward.part == schedule::BackwardPart::kInput) return;
  if (item.microbatch + 1 != rule_.extent.microbatches_of(item.minibatch)) return;
  if (rule_.one_by_one) return complete_alone(worker, item.minibatch, end);
  rates_[stage].complete(end);
}

// Measures each worker by itself. A common count of all workers' minibatches between two points in
// time would depend on which of two minibatches that end at almost the same time comes first.
void Account::complete_alone(Worker& worker, std::int64_t minibatch, Nanos end) {
  const std::int64_t warm_up = rule_.warm_up / rule_.stages.front().round;
  if (first_ended_ && end > measured_end_ && worker.completed > warm_up) return;
  ++worker.completed;
  worker.ended = end;
  if (worker.completed <= warm_up) worker.warm = end;
  if (first_ended_ || minibatch + rule_.stages.front().round < rule_.extent.minibatches) return;
  first_ended_ = true;
  measured_end_ = end;
}

// A minibatch is completed when all stages have completed it. The stage that ends last tells when:
// the first stage, whose backward comes after those of all stages that it sends to, unless there
// are stages that it does not lead to.
void Account::measure_stage(Summary& summary) const {
  const StageRate* last = nullptr;
  for (const StageRate& rate : rates_)
    if (rate.measured() > 0 && (last == nullptr || rate.latest() > last->latest())) last = &rate;
  if (last == nullptr) return;
  summary.measured_minibatches = last->measured();
  summary.measured_time = last->time();
}

void Account::measure_workers(Summary& summary) const {
  double rate = 0;  // minibatches per nanosecond
  for (const Worker& worker : workers_) {
    const std::int64_t warm_up = rule_.warm_up / rule_.stages.front().round;
    const bool is_warm = worker.completed > warm_up;
    const std::int64_t measured = worker.completed - (is_warm ? warm_up : 0);
    const Nanos took = worker.ended - (is_warm ? worker.warm : Nanos{0});
    if (measured <= 0 || took <= Nanos{0}) continue;
    summary.measured_minibatches += measured;
    rate += static_cast<double>(measured) / static_cast<double>(took.count());
  }
  if (rate > 0)
    summary.measured_time =
        Nanos(std::llround(static_cast<double>(summary.measured_minibatches) / rate));
}

Summary Account::finish() const {
  Summary summary;
  summary.longest_gap = longest_gap_;
  summary.length = last_;
  Nanos busiest{0};
  for (const Worker& worker : workers_) busiest = std::max(busiest, worker.busy);
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    if (!known_[w]) continue;
    const Worker& worker = workers_[w];
    WorkerAccount account{id_at<WorkerId>(w), worker.busy, worker.recompute, {}};
    Idle& idle = account.idle;
    idle.fill_drain = worker.fill_drain + worker.since_forward + (last_ - worker.free);
    idle.transfer = worker.transfer;
    idle.wait = worker.wait;
    // A worker with less to compute than the busiest worker would stand idle for the difference in
    // any case. This time counts as imbalance, taken from `wait` first, then `fill_drain`, then
    // `transfer`.
    Nanos lacking = busiest - worker.busy;
    for (Nanos* part : {&idle.wait, &idle.fill_drain, &idle.transfer}) {
      const Nanos taken = std::min(lacking, *part);
      *part -= taken;
      idle.imbalance += taken;
      lacking -= taken;
    }
    summary.busy += worker.busy;
    summary.recompute += worker.recompute;
    summary.idle += idle;
    summary.workers.push_back(account);
  }
  summary.reading = reading_;
  if (rule_.one_by_one)
    measure_workers(summary);
  else
    measure_stage(summary);
  return summary;
}

}  // namespace pipedream::timeline
