#include "runtime/recorder.h"

#include <algorithm>

namespace pipedream::runtime {

void Recorder::add(const schedule::Op& op, Nanos start, Nanos end, Nanos transfer, Nanos wait) {
  if (records_ && (everything_ || timeline::on_compute_lane(op)))
    events_.push_back({worker_, op, start, end, transfer, wait});
}

void Recorder::begin(bool records) {
  records_ = records;
  if (!records) return;
  events_.clear();
  if (device_.is_cpu()) return;
  origin_ = moment();
  origin_.mark->wait();
  busy_to_ = origin_.now = clock_.now();
}

void Recorder::finish() { take_times(/*all=*/true); }

Recorder::Moment Recorder::moment() const {
  Moment moment{clock_.now(), nullptr};
  if (!device_.is_cpu() && records_) moment.mark = std::make_shared<const model::Mark>(device_);
  return moment;
}

void Recorder::add_compute(const schedule::Op& op, const Moment& start, Nanos transfer,
                           Nanos wait) {
  if (device_.is_cpu()) {
    spent_.busy += clock_.now() - start.now;
    spent_.transfer += transfer;
  }
  if (!records_) return;
  const Moment end = moment();
  if (end.mark) untimed_.push_back({events_.size(), start, end});
  add(op, start.now, end.now, transfer, wait);
  if (memory_now_) events_.back().memory = memory_now_();
  take_times(/*all=*/false);
}

void Recorder::take_times(bool all) {
  while (!untimed_.empty() && (all || untimed_.front().end.mark->has_come())) {
    take_time(untimed_.front());
    untimed_.pop_front();
  }
}

// Events of the compute lane are in the order of one stream, so the time that the device was idle
// before an event is the gap to the event before. The origin moves on with each event: a device
// reports times between marks as milliseconds in single precision, which is coarse for minutes.
void Recorder::take_time(const Untimed& untimed) {
  timeline::Event& event = events_.at(untimed.place);
  event.start = origin_.now + untimed.start.mark->since(*origin_.mark);
  event.end = origin_.now + untimed.end.mark->since(*origin_.mark);
  const Nanos gap = std::max(Nanos{0}, event.start - busy_to_);
  event.transfer = std::min(event.transfer, gap);
  event.wait = std::min(event.wait, gap - event.transfer);
  spent_.busy += event.end - event.start;
  spent_.transfer += event.transfer;
  busy_to_ = event.end;
  origin_ = {event.end, untimed.end.mark};
}

void Recorder::amend(std::size_t place, Nanos start, Nanos end) {
  if (!records_ || !everything_) return;  // the op was not kept
  events_.at(place).start = start;
  events_.at(place).end = end;
}

void Recorder::enter(const schedule::Op& op) {
  const Begun begun{op, clock_.now()};
  if (recent_.size() < kRecent)
    recent_.push_back(begun);
  else
    recent_[begun_ % kRecent] = begun;
  ++begun_;
}

std::string Recorder::recent() const {
  const std::size_t count = recent_.size();
  if (count == 0) return "";
  std::string text =
      "# when, and op: 2:F9.1@3 is stage 2's forward of this epoch's minibatch 9, microbatch 1, "
      "with "
      "weights 3; docs/formats.md#schedule has all of them\n";
  for (std::size_t i = begun_ - count; i < begun_; ++i) {
    const Begun& begun = recent_[i % kRecent];
    text += to_text(begun.at) + "  " + schedule::to_text(begun.op, true) + "\n";
  }
  return text;
}

}  // namespace pipedream::runtime
