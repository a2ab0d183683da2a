// Reading of samples beside computation (docs/runtime.md: Data).
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/stage.h"
#include "schedule/ops.h"

namespace pipedream::runtime {

// Reads the samples of items that a worker will soon need, one item after another, on a thread of
// its own. Owned by one worker: all calls come from the worker's thread. The thread starts with the
// first want(). These rules hold:
//  1. Items are read in the order of want().
//  2. A failure to read an item is thrown by the take() of that item and by no other call.
class ReadAhead {
 public:
  // Reads the samples of one item for one stage. Called by the reading thread and by take().
  using Read = std::function<Values(StageId stage, const schedule::Item& item)>;

  explicit ReadAhead(Read read) : read_(std::move(read)) {}
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Has an item read. The item must not be waiting already.
  void want(StageId stage, const schedule::Item& item);
  // Returns the samples of an item, and waits until they are read. Reads them itself if nobody
  // wanted them.
  [[nodiscard]] Values take(StageId stage, const schedule::Item& item);
  // How many items were wanted and are not taken yet.
  [[nodiscard]] std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }
  // Forgets the items that were not taken. Afterwards `Read` is not called until the next want() or
  // take().
  void drop();

 private:
  using Key = std::pair<StageId, schedule::Item>;
  struct Slot {
    bool done = false;
    Values values;
    std::exception_ptr failure;
  };

  void run();  // the body of the reading thread
  [[nodiscard]] Slot read(const Key& key) const;

  Read read_;
  std::mutex mutex_;  // guards everything below but `thread_`
  std::condition_variable changed_;
  std::map<Key, Slot> items_;  // wanted and not taken yet
  std::deque<Key> queue_;      // those of `items_` that nobody reads yet
  bool reading_ = false;       // whether the thread is in `read_`
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace pipedream::runtime
