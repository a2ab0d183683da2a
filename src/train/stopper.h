// Ends a training early at a point that all workers agree on, so that a checkpoint can be written
// there (docs/checkpoints.md#stopping).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "transport/transport.h"

namespace pipedream::train {

// One worker's part in the agreement. Minibatches are those of the stream (Course::batches).
//
// When worker 0 is asked to stop, it tells all workers to begin no further minibatch for now. Each
// answers with the latest one that it has begun. Worker 0 then chooses the end, at which none of
// them has arrived, and tells it to all. A thread of its own does all this, so a worker that waits
// for another one in the middle of an op answers too. If a worker is lost meanwhile, nothing is
// chosen, and the training goes on until it finds that out by itself.
//
// The other functions are for the worker's thread alone.
class Stopper {
 public:
  // Both functions are used at worker 0 only, by the thread of this object. `is_asked` is called
  // about 20 times a second and returns whether the training is to stop. `end_after` returns where
  // a training ends in which no worker has begun a minibatch after the given one. `channel` is for
  // this class alone.
  struct Rules {
    std::function<bool()> is_asked;
    std::function<std::int64_t(std::int64_t begun)> end_after;
    std::chrono::milliseconds patience;  // the longest wait for an answer
  };
  Stopper(transport::Transport& channel, Rules rules);
  // If finish() was not called, aborts the channel.
  ~Stopper();
  Stopper(const Stopper&) = delete;
  Stopper& operator=(const Stopper&) = delete;

  // To be called before the worker begins `minibatch`, ascending. Returns the end of the training
  // if the minibatch does not come before it. Blocks while the workers agree. Throws what
  // `is_asked` has thrown, and WorkerLost if nothing is heard of worker 0 for too long.
  [[nodiscard]] std::optional<std::int64_t> end_before(std::int64_t minibatch);

  // Must be called by all workers when they have trained everything, up to the end that was chosen
  // or to that of the data. Waits until worker 0 calls it. Throws what `is_asked` has thrown.
  void finish();

 private:
  void lead();
  // Returns the end, or kNoEnd if a worker does not answer in time.
  [[nodiscard]] std::int64_t choose_end();
  void follow();
  // Ends the agreement without an end.
  void give_up();
  void fail(std::exception_ptr failure);
  [[nodiscard]] std::int64_t freeze();
  void set_end(std::int64_t end);
  void tell_all(std::int64_t what);

  transport::Transport& channel_;
  Rules rules_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::int64_t begun_ = -1;  // the latest minibatch that this worker has begun
  bool frozen_ = false;      // no minibatch may begin until the end is known
  bool finishing_ = false;   // finish() was called
  std::optional<std::int64_t> end_;
  std::exception_ptr failure_;  // what `is_asked` has thrown
  std::thread thread_;          // the last member: it uses the others
};

}  // namespace pipedream::train
