#include "runtime/read_ahead.h"

#include "core/check.h"
#include "core/thread.h"
#include "model/memory_meter.h"
#include "model/threads.h"

namespace pipedream::runtime {

ReadAhead::~ReadAhead() {
  drop();
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ReadAhead::want(StageId stage, const schedule::Item& item) {
  const Key key{stage, item};
  {
    const std::lock_guard lock(mutex_);
    PD_CHECK(items_.try_emplace(key).second);
    queue_.push_back(key);
  }
  changed_.notify_all();
  if (!thread_.joinable()) thread_ = start_helper("pd-read", [this] { run(); });
}

Values ReadAhead::take(StageId stage, const schedule::Item& item) {
  Slot slot;
  {
    std::unique_lock lock(mutex_);
    const auto found = items_.find({stage, item});
    if (found == items_.end()) {
      lock.unlock();
      return read_(stage, item);
    }
    changed_.wait(lock, [&] { return found->second.done; });
    slot = std::move(found->second);
    items_.erase(found);
  }
  if (slot.failure) std::rethrow_exception(slot.failure);
  return std::move(slot.values);
}

void ReadAhead::drop() {
  std::unique_lock lock(mutex_);
  queue_.clear();
  changed_.wait(lock, [this] { return !reading_; });
  items_.clear();
}

void ReadAhead::run() {
  model::use_no_other_thread();
  // Lets libtorch note what this thread allocates. It warns when a worker, whose memory is metered,
  // frees memory that was not noted.
  const model::MemoryMeter noted;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !queue_.empty(); });
    if (ends_) return;
    const Key key = queue_.front();
    queue_.pop_front();
    reading_ = true;
    lock.unlock();
    Slot made = read(key);
    lock.lock();
    reading_ = false;
    items_.at(key) = std::move(made);
    changed_.notify_all();
  }
}

ReadAhead::Slot ReadAhead::read(const Key& key) const {
  Slot slot{.done = true};
  try {
    slot.values = read_(key.first, key.second);
  } catch (...) {  // data sets of the library's users may throw anything
    slot.failure = std::current_exception();
  }
  return slot;
}

}  // namespace pipedream::runtime
