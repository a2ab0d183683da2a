// Records what a worker did when: its part of the timeline (docs/runtime.md: Measuring).
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/mark.h"
#include "runtime/clock.h"
#include "timeline/timeline.h"

namespace pipedream::runtime {

// The events of one worker in the last schedule recorded, and the last ops that it began. Owned by
// the worker and used from its thread alone. Events of the compute lane are always kept, because
// the busy and idle times of the run are computed from them; events of other lanes are kept only
// for pictures of the timeline. On a GPU, compute is timed by marks in its stream: the worker's
// thread, which runs ahead of its device, does not wait for them, and times are filled in later.
class Recorder {
 public:
  // `everything`: whether events of all lanes are kept. `memory_now` returns the memory that the
  // worker holds, and may be empty.
  Recorder(WorkerId worker, const Clock& clock, bool everything, at::Device device = at::kCPU,
           std::function<Bytes()> memory_now = {})
      : worker_(worker),
        clock_(clock),
        everything_(everything),
        device_(device),
        memory_now_(std::move(memory_now)) {}

  // A schedule begins. If `records`, discards the events so far and records this schedule; if not,
  // keeps them and records nothing.
  void begin(bool records);
  // The schedule has ended. Waits until the device has done all recorded ops, and fills in their
  // times.
  void finish();

  // A point in the worker's compute: the time when the worker's thread is here and, on a device, a
  // mark that comes when the device is.
  struct Moment {
    Nanos now{0};
    std::shared_ptr<const model::Mark> mark;  // null on CPU, and while nothing is recorded
  };
  [[nodiscard]] Moment moment() const;

  // Records an op of the compute lane that ran from `start` until now. Before `start` the worker
  // waited `transfer` for data in transit, and `wait` for the data set or for other workers. On a
  // device, both are limited to the time that the device was idle before the op.
  void add_compute(const schedule::Op& op, const Moment& start, Nanos transfer, Nanos wait);
  // Records an op with known times, if events of its lane are kept.
  void add(const schedule::Op& op, Nanos start, Nanos end, Nanos transfer = Nanos{0},
           Nanos wait = Nanos{0});
  // Corrects the times of an op that ran beside compute. `place` is what size() returned before the
  // op was added.
  void amend(std::size_t place, Nanos start, Nanos end);
  [[nodiscard]] std::size_t size() const { return events_.size(); }
  [[nodiscard]] Nanos now() const { return clock_.now(); }
  [[nodiscard]] Nanos at(std::chrono::steady_clock::time_point time) const {
    return clock_.at(time);
  }

  // Notes that the worker begins `op`, for recent().
  void enter(const schedule::Op& op);
  // The last 100 ops that the worker began, as text for finding out why it is stuck: a line that
  // explains the format, then one line per op, the newest last. Empty if there were no ops.
  [[nodiscard]] std::string recent() const;

  // What the compute lane did since the run began, also in schedules that are not recorded. On a
  // device, only of schedules that are, and of ops that the device has done.
  struct Spent {
    Nanos busy{0};
    Nanos transfer{0};  // before ops: idle while what they waited for was in transit
  };
  [[nodiscard]] const Spent& spent() const { return spent_; }

  [[nodiscard]] const std::vector<timeline::Event>& events() const { return events_; }

 private:
  static constexpr std::size_t kRecent = 100;
  struct Begun {
    schedule::Op op;
    Nanos at{0};
  };
  // An event whose times on the device are not known yet.
  struct Untimed {
    std::size_t place;  // index into `events_`
    Moment start;
    Moment end;
  };
  // Fills in the times of events that the device has done. With `all`, waits for all of them.
  void take_times(bool all);
  void take_time(const Untimed& untimed);

  WorkerId worker_;
  Clock clock_;
  bool everything_;
  at::Device device_;
  std::function<Bytes()> memory_now_;
  bool records_ = true;
  std::vector<timeline::Event> events_;
  Spent spent_;
  std::deque<Untimed> untimed_;
  Moment origin_;              // a mark of the device, with its time on the run's clock
  Nanos busy_to_{0};           // on a device: the end of the last event that has its times
  std::vector<Begun> recent_;  // a ring buffer: op number n is at n % kRecent
  std::size_t begun_ = 0;      // the number of ops begun
};

}  // namespace pipedream::runtime
