// What each worker tells worker 0 about its speed while a training runs: how long it computed, how
// long it waited for transfers, and what it sent (docs/runtime.md#measuring). The reports go on the
// channel of the losses, about once a second, and nobody waits for them.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "core/units.h"
#include "runtime/recorder.h"
#include "train/slow_cause.h"
#include "transport/counting.h"

namespace pipedream::train {

// One worker, from one report to the next. Time between two stretches of training, in which it
// evaluates or waits for a checkpoint, is left out.
struct SpeedReport {
  WorkerId worker;
  Nanos time{0};                   // of training that the report covers
  Nanos busy{0};                   // computed
  Nanos transfer{0};               // stood idle while what it waited for was in transit
  std::vector<std::int64_t> sent;  // bytes, by the worker that they went to
  friend bool operator==(const SpeedReport&, const SpeedReport&) = default;
};

// Reports travel as the numbers of a message's header.
[[nodiscard]] std::vector<std::int64_t> to_numbers(const SpeedReport& report);
// Requires numbers that to_numbers() made. `workers`: how many workers there are.
[[nodiscard]] SpeedReport report_of(const std::vector<std::int64_t>& numbers, int workers);

// Sends the reports of one worker. Used by the worker's thread.
class SpeedReporter {
 public:
  // All arguments must outlive it.
  SpeedReporter(const runtime::Recorder& recorder, const transport::SentBytes& sent,
                transport::Transport& news);

  // A stretch of training begins, or ends.
  void begin();
  void pause() { collect(); }
  // Sends a report if a second of training was not reported. To be called often, between begin()
  // and pause().
  void tick();

 private:
  // Adds to `report_` what was since begin(), or since the last call.
  void collect();
  void begin_report();

  const runtime::Recorder& recorder_;
  const transport::SentBytes& sent_;
  transport::Transport& news_;
  SpeedReport report_;  // the next one
  // At the last call of begin() or collect():
  Nanos began_{0};
  runtime::Recorder::Spent spent_{};
  std::vector<std::int64_t> bytes_;
};

// Collects the reports at worker 0. Used by one thread at a time.
class SpeedReports {
 public:
  explicit SpeedReports(transport::Transport& news);

  // Returns the message of `ticket`, which may be of any tag of the channel, and takes the reports
  // that arrive before it. Throws what Transport::wait() throws.
  [[nodiscard]] transport::Message wait(transport::Ticket ticket);

  // A stretch of training begins.
  void begin(Nanos now) { seen_ = now; }
  // Samples were trained since begin() or the last call.
  void add_samples(std::int64_t samples, Nanos now);
  // What the newest reports say together; nothing before every worker has sent enough of them.
  [[nodiscard]] std::optional<Speeds> speeds() const;

 private:
  // Since the first begin():
  struct Trained {
    Nanos time{0};  // of training
    std::int64_t samples = 0;
  };
  void take(const transport::Message& message);
  void forget_old();

  transport::Transport& news_;
  std::vector<transport::Ticket> tickets_;        // for the next report of each worker
  std::vector<std::deque<SpeedReport>> reports_;  // by worker, the newest last
  std::deque<Trained> trained_{{}};               // the newest last; never empty
  Nanos seen_{0};                                 // the time of the last begin() or add_samples()
};

}  // namespace pipedream::train
