#include "core/thread_pool.h"

#include <atomic>
#include <chrono>

#include <gtest/gtest.h>

#include "core/testing.h"

namespace pipedream {
namespace {

TEST(ThreadPool, DoesEachPieceOnce) {
  for (const int threads : {0, 1, 3}) {
    ThreadPool pool(threads, "pd-test");
    for (const std::size_t count : {0, 1, 2, 50}) {
      std::vector<int> done(count);
      pool.for_each(count, [&](std::size_t i) { ++done[i]; });
      EXPECT_EQ(done, std::vector<int>(count, 1));
    }
  }
}

TEST(ThreadPool, DoesAsManyPiecesAtATimeAsThereAreThreadsWithTheCaller) {
  ThreadPool pool(2, "pd-test");
  std::atomic<int> begun = 0;
  std::atomic<int> met = 0;
  pool.for_each(3, [&](std::size_t) {
    ++begun;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (begun < 3 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (begun == 3) ++met;
  });
  EXPECT_EQ(met, 3);
}

TEST(ThreadPool, ThrowsTheFailureOfTheLowestPieceAfterAllAreDone) {
  ThreadPool pool(3, "pd-test");
  for (int turn = 0; turn < 50; ++turn) {
    std::atomic<int> done = 0;
    EXPECT_EQ(test::message_of<std::runtime_error>([&] {
                pool.for_each(20, [&](std::size_t i) {
                  ++done;
                  if (i % 3 == 2) throw std::runtime_error(std::to_string(i));
                });
              }),
              "2");
    EXPECT_EQ(done, 20);
  }
}

TEST(ThreadPool, ServesSeveralCallersAtATime) {
  ThreadPool pool(2, "pd-test");
  std::atomic<int> done = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i)
      callers.emplace_back([&] {
        for (int turn = 0; turn < 25; ++turn) pool.for_each(7, [&](std::size_t) { ++done; });
      });
  }
  EXPECT_EQ(done, 4 * 25 * 7);
}

TEST(ThreadPool, CallsBeginOnEachOfItsThreads) {
  std::atomic<int> begun = 0;
  {
    ThreadPool pool(3, "pd-test", [&] { ++begun; });
  }
  EXPECT_EQ(begun, 3);
}

}  // namespace
}  // namespace pipedream
