#include "core/thread.h"

#include <array>
#include <thread>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

namespace pipedream {
namespace {

TEST(Thread, HasTheNameThatItWasGiven) {
  std::array<char, 16> name{};
  std::thread([&] {
    name_thread("pd-messages");
    ASSERT_EQ(pthread_getname_np(pthread_self(), name.data(), name.size()), 0);
  }).join();
  EXPECT_STREQ(name.data(), "pd-messages");
}

TEST(Thread, KeepsItsPolicyAndItsShareOfTheCoreWithShortTurns) {
  std::thread([] {
    ASSERT_EQ(setpriority(PRIO_PROCESS, 0, 3), 0);  // Linux: of this thread alone
    take_short_turns();
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), 3);
  }).join();
}

TEST(Thread, StaysABatchThreadWithShortTurns) {
  std::thread([] {
    const sched_param parameter{};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &parameter), 0);
    take_short_turns();
    EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH);
  }).join();
}

}  // namespace
}  // namespace pipedream
