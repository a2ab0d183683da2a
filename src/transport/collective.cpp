#include "transport/collective.h"

#include "core/check.h"
#include "core/text.h"
#include "core/thread.h"

namespace pipedream::transport {
namespace {

Way reading(Way way) {
  way.reads_memory = true;
  return way;
}

}  // namespace

Reducer::Reducer(Transport& channel, Way way)
    : Reducer(channel, [&channel, way = reading(std::move(way))](
                           std::span<const WorkerId> members, int tag, std::span<float> values,
                           const std::shared_ptr<const void>& owner) {
        return all_reduce(channel, members, tag, values, way, Deadline::max(), owner);
      }) {}

Reducer::Reducer(Transport& channel, Sum sum)
    : channel_(channel),
      sum_(std::move(sum)),
      thread_(start_helper("pd-sums", [this] { run(); })) {}

Reducer::~Reducer() {
  bool unfinished = false;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    unfinished = finished_ != started_;
  }
  if (unfinished)
    abort("worker " + std::to_string(channel_.me().value) + " left before its sums were finished");
  changed_.notify_all();
  thread_.join();
}

Ticket Reducer::start(std::vector<WorkerId> members, int tag, std::span<float> values,
                      std::shared_ptr<void> owner, Readiness is_ready) {
  std::uint64_t ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    ticket = ++started_;
    tickets_[ticket].members =
        joined(members, [](WorkerId worker) { return std::to_string(worker.value); });
    queue_.push_back(
        {ticket, std::move(members), tag, values, std::move(owner), std::move(is_ready)});
  }
  changed_.notify_all();
  return {ticket};
}

Reduction Reducer::wait(Ticket ticket, Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto entry = tickets_.find(ticket.number);
  PD_CHECK(entry != tickets_.end());
  changed_.wait_until(lock, deadline,
                      [&] { return entry->second.reduction.has_value() || failure_; });
  const Unspent spent = std::move(entry->second);
  tickets_.erase(entry);
  if (spent.reduction) return *spent.reduction;
  if (failure_) std::rethrow_exception(failure_);
  throw WorkerLost("the sum over workers " + spent.members +
                   " was not finished before the deadline");
}

void Reducer::abort(const std::string& reason) noexcept { channel_.abort(reason); }

void Reducer::run() {
  try {
    while (std::optional<Queued> sum = next()) {
      const Reduction reduction = reduce(*sum);
      const std::uint64_t ticket = sum->ticket;
      sum.reset();  // releases the `owner` of the values before wait() can return
      finish(ticket, reduction);
    }
  } catch (...) {
    fail(std::current_exception());
  }
}

// Waits for the next sum and returns it. Returns nullopt when the destructor has begun and no sum
// is queued.
std::optional<Reducer::Queued> Reducer::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ending_ || !queue_.empty(); });
  if (queue_.empty()) return std::nullopt;
  Queued sum = std::move(queue_.front());
  queue_.pop_front();
  return sum;
}

// Runs the sum without a deadline: the deadline is an argument of wait().
Reduction Reducer::reduce(const Queued& sum) {
  wait_until(sum.is_ready);
  Reduction reduction;
  reduction.began = std::chrono::steady_clock::now();
  const Summed summed = sum_(sum.members, sum.tag, sum.values, sum.owner);
  reduction.waited = summed.waited;
  reduction.sent = summed.sent;
  reduction.ended = std::chrono::steady_clock::now();
  return reduction;
}

void Reducer::finish(std::uint64_t ticket, const Reduction& reduction) {
  {
    const std::lock_guard lock(mutex_);
    ++finished_;
    const auto entry = tickets_.find(ticket);
    if (entry != tickets_.end()) entry->second.reduction = reduction;
  }
  changed_.notify_all();
}

void Reducer::fail(const std::exception_ptr& failure) {
  {
    const std::lock_guard lock(mutex_);
    failure_ = failure;
  }
  changed_.notify_all();
}

}  // namespace pipedream::transport
