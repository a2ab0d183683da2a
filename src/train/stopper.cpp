#include "train/stopper.h"

#include <algorithm>
#include <limits>

#include "core/log.h"
#include "core/thread.h"

namespace pipedream::train {
namespace {

constexpr WorkerId kLeader{0};
constexpr int kTag = 0;
// What the leader tells: to freeze, the end, or that the training is not to end early.
constexpr std::int64_t kFreeze = -1;
constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();
constexpr auto kInterval =
    std::chrono::milliseconds(50);  // from one look at `is_asked` to the next

transport::Message message_of(std::int64_t number) { return {{number}, {}, nullptr}; }

}  // namespace

Stopper::Stopper(transport::Transport& channel, Rules rules)
    : channel_(channel), rules_(std::move(rules)), thread_(start_helper("pd-stopper", [this] {
        try {
          if (channel_.me() == kLeader)
            lead();
          else
            follow();
        } catch (const transport::Aborted&) {  // the failure is thrown where the worker waits
          give_up();
        } catch (...) {
          fail(std::current_exception());
        }
      })) {}

Stopper::~Stopper() {
  if (!thread_.joinable()) return;
  channel_.abort("a worker has ended");
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Stopper::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  changed_.notify_all();
  thread_.join();
  if (failure_) std::rethrow_exception(failure_);
}

// Worker 0 chooses the end within `patience`, or gives up, which ends this wait. To begin the
// minibatch before that is known could pass the end that the others get.
std::optional<std::int64_t> Stopper::end_before(std::int64_t minibatch) {
  std::unique_lock lock(mutex_);
  const auto may_go_on = [this] { return !frozen_ || end_.has_value(); };
  if (!changed_.wait_for(lock, 3 * rules_.patience, may_go_on))
    throw WorkerLost("the training was asked to stop, and worker 0 did not say where");
  if (failure_) std::rethrow_exception(failure_);
  if (end_ && minibatch >= *end_) return end_;
  begun_ = std::max(begun_, minibatch);
  return std::nullopt;
}

std::int64_t Stopper::freeze() {
  const std::lock_guard lock(mutex_);
  frozen_ = true;
  return begun_;
}

void Stopper::set_end(std::int64_t end) {
  {
    const std::lock_guard lock(mutex_);
    frozen_ = false;
    if (end != kNoEnd) end_ = end;
  }
  changed_.notify_all();
}

void Stopper::give_up() { set_end(kNoEnd); }

void Stopper::fail(std::exception_ptr failure) {
  channel_.abort("a worker cannot tell whether to stop");
  {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
  }
  give_up();
}

void Stopper::tell_all(std::int64_t what) {
  for (int w = 0; w < channel_.workers(); ++w)
    if (WorkerId{w} != kLeader) channel_.send({w}, kTag, message_of(what));
}

void Stopper::lead() {
  {
    std::unique_lock lock(mutex_);
    while (!finishing_) {
      // Not while the lock is held: a slow answer must not hold the training up.
      lock.unlock();
      const bool asked = rules_.is_asked();
      lock.lock();
      if (asked) break;
      changed_.wait_for(lock, kInterval, [this] { return finishing_; });
    }
    if (finishing_) {
      lock.unlock();
      tell_all(kNoEnd);
      return;
    }
  }
  const std::int64_t end = choose_end();
  tell_all(end);
  set_end(end);
}

std::int64_t Stopper::choose_end() {
  std::int64_t begun = freeze();
  tell_all(kFreeze);
  const auto deadline = std::chrono::steady_clock::now() + rules_.patience;
  try {
    for (int w = 0; w < channel_.workers(); ++w)
      if (WorkerId{w} != kLeader)
        begun = std::max(begun, channel_.wait(channel_.receive({w}, kTag), deadline).header.at(0));
  } catch (const transport::Aborted&) {
    throw;
  } catch (const WorkerLost& lost) {
    log_warning(std::string("the training cannot stop at a checkpoint: ") + lost.what());
    return kNoEnd;
  }
  return rules_.end_after(begun);
}

// Waits without a deadline for the leader, which speaks when it is asked to stop or has trained
// everything. If it is lost, the worker's thread finds that out, and ends this wait.
void Stopper::follow() {
  const auto next = [this] {
    return channel_.wait(channel_.receive(kLeader, kTag), transport::Deadline::max()).header.at(0);
  };
  std::int64_t told = next();
  if (told == kFreeze) {
    channel_.send(kLeader, kTag, message_of(freeze()));
    told = next();
  }
  set_end(told);
}

}  // namespace pipedream::train
