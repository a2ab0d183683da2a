// Collectives that run while their worker computes.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/units.h"
#include "transport/all_reduce.h"
#include "transport/transport.h"

namespace pipedream::transport {

// How a sum went: on which stretch of time, and how much of it was waiting for the others to begin.
struct Reduction {
  Deadline began;
  Deadline ended;
  Nanos waited{0};
  Bytes sent;  // by this worker
};

// Replaces values by their sums over members, as all_reduce() does; without a deadline.
using Sum =
    std::function<Summed(std::span<const WorkerId> members, int tag, std::span<float> values)>;

// Sums values over workers (all_reduce.h, or lane_sums.h on devices), one sum after another in the
// order of start(), on a thread and a channel of its own. Workers must start sums that they share
// in the same order. Owned by one worker and used from its thread; only abort() may come from
// another. A failed sum fails all after it: the channel is then out of step.
class Reducer {
 public:
  // The channel is for nobody else while this lives, and outlives it.
  explicit Reducer(Transport& channel, Way way = {});
  // In another way, which uses that channel.
  Reducer(Transport& channel, Sum sum);

  // Never hangs: if sums are unfinished, aborts the channel, which fails them at the other workers
  // too.
  ~Reducer();

  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  // Queues a sum over `members` and returns at once. Nobody else touches `values`, once they are
  // ready, until wait() has returned; `owner` keeps them alive until then.
  [[nodiscard]] Ticket start(std::vector<WorkerId> members, int tag, std::span<float> values,
                             std::shared_ptr<void> owner, Readiness is_ready = {});

  // Returns when that sum is done, and throws what it threw. Also throws WorkerLost when it is not
  // done by the deadline; it then still runs. The ticket is spent in any case.
  Reduction wait(Ticket ticket, Deadline deadline);

  // Aborts the channel: the sums under way fail with Aborted, here and at the other workers.
  void abort(const std::string& reason) noexcept;

 private:
  struct Queued {
    std::uint64_t ticket;
    std::vector<WorkerId> members;
    int tag;
    std::span<float> values;
    std::shared_ptr<void> owner;
    Readiness is_ready;
  };

  struct Unspent {
    std::string members;
    std::optional<Reduction> reduction;  // when done
  };

  void run();
  [[nodiscard]] std::optional<Queued> next();
  [[nodiscard]] Reduction reduce(const Queued& sum);
  void finish(std::uint64_t ticket, const Reduction& reduction);
  void fail(const std::exception_ptr& failure);

  Transport& channel_;
  const Sum sum_;
  std::mutex mutex_;  // of all below but the thread
  std::condition_variable changed_;
  std::deque<Queued> queue_;
  std::map<std::uint64_t, Unspent> tickets_;
  std::uint64_t started_ = 0;
  std::uint64_t finished_ = 0;
  std::exception_ptr failure_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace pipedream::transport
