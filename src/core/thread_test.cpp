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

TEST(Bound, EndsWithTheObject) {
  const Units before = own_units();
  {
    const Bound bound({before.back()}, {});
    EXPECT_EQ(own_units(), Units{before.back()});
  }
  EXPECT_EQ(own_units(), before);
}

TEST(Helper, RunsWhereTheHelpersOfItsStarterMayRun) {
  const Units before = own_units();
  Units with, after;
  {
    const Bound bound({before.front()}, before);
    start_helper("pd-helper", [&] { with = own_units(); }).join();
  }
  {
    const Bound bound({before.front()}, {});
    start_helper("pd-helper", [&] { after = own_units(); }).join();
  }
  EXPECT_EQ(with, before);
  EXPECT_EQ(after, Units{before.front()});
}

}  // namespace
}  // namespace pipedream
