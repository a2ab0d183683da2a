// What a worker did when: its part of the timeline.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "model/mark.h"
#include "runtime/clock.h"
#include "timeline/timeline.h"

namespace pipedream::runtime {

// Owned and used by one worker. Events of the compute lane are kept for the account of the run, all
// others only for pictures. What a device computes is timed there, by marks in its stream: the
// worker, which is ahead of its device, does not wait for them.
class Recorder {
 public:
  Recorder(WorkerId worker, const Clock& clock, bool everything, at::Device device = at::kCPU)
      : worker_(worker), clock_(clock), everything_(everything), device_(device) {}

  // A schedule begins: forgets what was before, or records nothing of this one.
  void begin(bool records);
  // It has ended: waits until all of it is done.
  void finish();

  // Where compute stands: now, and on a device when it gets here.
  struct Moment {
    Nanos now{0};
    std::shared_ptr<const model::Mark> mark;  // null on CPU
  };
  [[nodiscard]] Moment moment() const;

  // Of the compute lane, from there to here. It waited that long for what was on its way, and for
  // others; on a device no longer than it stood still.
  void add_compute(const schedule::Op& op, const Moment& start, Nanos transfer, Nanos wait);
  void add(const schedule::Op& op, Nanos start, Nanos end, Nanos transfer = Nanos{0},
           Nanos wait = Nanos{0});
  // Of an op that goes on beside compute: it really was from `start` to `end`. `place` counts the
  // events of this schedule, as size() did before it was added.
  void amend(std::size_t place, Nanos start, Nanos end);
  [[nodiscard]] std::size_t size() const { return events_.size(); }
  [[nodiscard]] Nanos now() const { return clock_.now(); }
  [[nodiscard]] Nanos at(std::chrono::steady_clock::time_point time) const {
    return clock_.at(time);
  }

  // An op that the worker is in: the last of recent().
  void enter(const schedule::Op& op);
  // The last ops that the worker began, the newest at the end, a line each under one that explains
  // them: for whoever has to find out why it stands still.
  [[nodiscard]] std::string recent() const;

  [[nodiscard]] const std::vector<timeline::Event>& events() const { return events_; }

 private:
  static constexpr std::size_t kRecent = 100;
  struct Begun {
    schedule::Op op;
    Nanos at{0};
  };
  // An event whose times a device has not told yet.
  struct Untimed {
    std::size_t place;
    Moment start;
    Moment end;
  };
  void take_times(bool all);
  void take_time(const Untimed& untimed);

  WorkerId worker_;
  Clock clock_;
  bool everything_;
  at::Device device_;
  bool records_ = true;
  std::vector<timeline::Event> events_;
  std::deque<Untimed> untimed_;
  Moment origin_;              // a mark, and when it was
  Nanos busy_to_{0};           // the end of the last event that was timed
  std::vector<Begun> recent_;  // in a ring
  std::size_t begun_ = 0;
};

}  // namespace pipedream::runtime
