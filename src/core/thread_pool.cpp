#include "core/thread_pool.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "core/thread.h"

namespace pipedream {

// One call of for_each(). Guarded by the pool's mutex, but for `count` and `do_piece`.
struct ThreadPool::Work {
  std::size_t count;
  const std::function<void(std::size_t)>& do_piece;
  std::size_t next = 0;  // the first piece that nobody has begun
  std::size_t done = 0;
  std::size_t failed = 0;  // the lowest piece that failed, if `failure` is set
  std::exception_ptr failure{};
};

ThreadPool::ThreadPool(int threads, const char* name, std::function<void()> begin) {
  try {
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([this, name, begin] {
        name_thread(name);
        run(begin);
      });
  } catch (const std::system_error&) {
    // The system gives no more threads. The ones that were started, and the caller, do the work.
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::for_each(std::size_t count, const std::function<void(std::size_t)>& do_piece) {
  if (count == 0) return;
  const auto work = std::make_shared<Work>(Work{count, do_piece});
  {
    const std::lock_guard lock(mutex_);
    open_.push_back(work);
  }
  changed_.notify_all();
  help(*work);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return work->done == count; });
  // Taken out, so that no thread of the pool releases the exception while the caller reads it.
  const std::exception_ptr failure = std::exchange(work->failure, nullptr);
  if (failure) std::rethrow_exception(failure);
}

void ThreadPool::run(const std::function<void()>& begin) {
  begin();
  while (true) {
    std::shared_ptr<Work> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ends_ || !open_.empty(); });
      if (open_.empty()) return;
      work = open_.front();
    }
    help(*work);
  }
}

void ThreadPool::help(Work& work) {
  std::unique_lock lock(mutex_);
  while (work.next < work.count) {
    const std::size_t piece = work.next++;
    if (work.next == work.count)
      open_.erase(std::find_if(open_.begin(), open_.end(),
                               [&](const auto& other) { return other.get() == &work; }));
    lock.unlock();
    std::exception_ptr failure;
    try {
      work.do_piece(piece);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && (!work.failure || piece < work.failed)) {
      work.failed = piece;
      work.failure = std::move(failure);
    }
    if (++work.done == work.count) changed_.notify_all();
  }
}

}  // namespace pipedream
