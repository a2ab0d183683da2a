#include "model/threads.h"

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <ATen/Parallel.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>

namespace pipedream::model {
namespace {

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

// Disabled because the test OneMeansOne runs it in another process.
TEST(UseThreads, DISABLED_StartsNone) {
  std::ptrdiff_t before = 0;
  std::ptrdiff_t after = 0;
  std::thread([&] {
    use_threads(1);
    before = threads_of_this_process();
    (void)at::conv2d(at::randn({16, 64, 16, 16}), at::randn({64, 64, 3, 3}));
    (void)at::linear(at::randn({512, 512}), at::randn({2048, 512}));
    after = threads_of_this_process();
  }).join();
  EXPECT_EQ(after, before);
}

// The process starts with four OpenMP threads, since users' processes start with several too.
// Without omp_set_max_active_levels in use_threads() this fails on 64-bit Arm.
TEST(UseThreads, OneMeansOne) {
  EXPECT_EQ(std::system("OMP_NUM_THREADS=4 GTEST_TOTAL_SHARDS=1 GTEST_SHARD_INDEX=0 "
                        "\"$(readlink /proc/$PPID/exe)\" --gtest_brief=1 "
                        "--gtest_also_run_disabled_tests --gtest_filter=UseThreads.DISABLED_*"),
            0);
}

// How deep parallel regions may be nested; 0 if they run on one thread.
int active_levels() {
  const auto levels =
      reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "omp_get_max_active_levels"));
  return levels == nullptr ? 1 : levels();
}

TEST(UseNoOtherThread, LeavesTheOthersTheirThreads) {
  std::thread([] {
    use_threads(2);
    int of_helper = 0;
    std::thread([&] {
      use_no_other_thread();
      of_helper = at::get_num_threads();
    }).join();
    EXPECT_EQ(of_helper, 1);
    EXPECT_EQ(at::get_num_threads(), 2);
    EXPECT_EQ(active_levels(), 1);
    std::thread([] {
      EXPECT_EQ(at::get_num_threads(), 2) << "of threads that begin later";
    }).join();
  }).join();
  use_threads(1);
  EXPECT_EQ(active_levels(), 0) << "the test would show nothing";
}

}  // namespace
}  // namespace pipedream::model
