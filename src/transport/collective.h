// All-reduce in the background, while the worker computes (docs/runtime.md, data parallelism).
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

// When a sum ran, and what it cost this worker.
struct Reduction {
  Deadline began;  // its values were ready and the previous sum was done
  Deadline ended;
  Nanos waited{0};  // time spent waiting for the other members to begin
  Bytes sent;       // by this worker
};

// A function that replaces `values` by their sums over `members`, as all_reduce() does, but without
// a deadline. `owner` keeps the values alive.
using Sum =
    std::function<Summed(std::span<const WorkerId> members, int tag, std::span<float> values,
                         const std::shared_ptr<const void>& owner)>;

// Sums values over workers, one sum after another in the order of start(), on a thread and a
// channel of its own. all_reduce.h does the sums, or lane_sums.h those on devices. Owned by one
// worker and used from that worker's thread; only abort() may be called from another.
//
// Workers that take part in the same sums must start them in the same order. After a sum has
// failed, all later sums fail too, because the members are then out of step on the channel.
class Reducer {
 public:
  // Sums by all_reduce() in the given way, with reads of other members' memory. `channel` must
  // outlive the Reducer, and nobody else may use it meanwhile.
  explicit Reducer(Transport& channel, Way way = {});
  // Sums by the function `sum`, which communicates by `channel`. `channel` must outlive the
  // Reducer, and nobody else may use it meanwhile.
  Reducer(Transport& channel, Sum sum);

  // Does not wait for unfinished sums. It aborts the channel instead, which fails them at the other
  // workers too. If a device is still writing the values of the next sum, it waits for the device.
  ~Reducer();

  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  // Queues a sum of `values` over `members` and returns at once. The sum begins when `is_ready`
  // says that the values are ready. From then on nobody else may touch them until wait() has
  // returned. The Reducer holds `owner`, which keeps the values alive, until the sum is done.
  [[nodiscard]] Ticket start(std::vector<WorkerId> members, int tag, std::span<float> values,
                             std::shared_ptr<void> owner, Readiness is_ready = {});

  // Returns when the sum is done. Throws what the sum, or an earlier sum that failed, threw. Throws
  // WorkerLost if the sum is not done by `deadline`; it then still runs. The ticket cannot be used
  // again in any case.
  Reduction wait(Ticket ticket, Deadline deadline);

  // Aborts the channel: unfinished sums fail with Aborted, here and at the other workers.
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

  // A sum that wait() has not been called for.
  struct Unspent {
    std::string members;                 // their numbers, for error messages
    std::optional<Reduction> reduction;  // set when the sum is done
  };

  void run();
  [[nodiscard]] std::optional<Queued> next();
  [[nodiscard]] Reduction reduce(const Queued& sum);
  void finish(std::uint64_t ticket, const Reduction& reduction);
  void fail(const std::exception_ptr& failure);

  Transport& channel_;
  const Sum sum_;
  std::mutex mutex_;  // guards all members below except `thread_`
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
