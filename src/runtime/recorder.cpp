#include "runtime/recorder.h"

namespace pipedream::runtime {

void Recorder::add(const schedule::Op& op, Nanos start, Nanos end, Nanos transfer, Nanos wait) {
  if (records_ && (everything_ || timeline::on_compute_lane(op)))
    events_.push_back({worker_, op, start, end, transfer, wait});
}

void Recorder::amend(std::size_t place, Nanos start, Nanos end) {
  if (!records_ || !everything_) return;  // only compute was kept
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
