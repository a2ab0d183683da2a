// A few threads that share independent pieces of work with the caller.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pipedream {

// Any thread may call for_each(), also several at a time. The threads wait without using a core
// while there is no work.
class ThreadPool {
 public:
  // Starts `threads` threads, which may be 0, or fewer if the system gives no more. Each first
  // calls `begin`. `name` is what top and gdb show; Linux takes at most 15 characters.
  ThreadPool(
      int threads, const char* name, std::function<void()> begin = [] {});
  // Requires that no for_each() is running.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls do_piece(i) once for each i in [0, count), on the threads of the pool and on the calling
  // one, and returns when all calls have returned. If calls throw, the other pieces are done all
  // the same, and the exception of the lowest i is thrown, so that it does not depend on timing.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& do_piece);

 private:
  struct Work;
  void run(const std::function<void()>& begin);
  // Does pieces of `work` until none is left to begin.
  void help(Work& work);

  std::mutex mutex_;
  std::condition_variable changed_;         // there is work, a piece is done, or the pool ends
  std::deque<std::shared_ptr<Work>> open_;  // calls that have pieces which nobody has begun
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace pipedream
