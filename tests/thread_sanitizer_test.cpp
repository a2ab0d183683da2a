// Checks that the thread sanitizer works: despite the suppressions that libtorch needs, it reports
// races in the code of workers and in functions that libtorch calls for them. Built only with this
// sanitizer.
#include <thread>

#include <gtest/gtest.h>

#include <ATen/ops/ones.h>

#include "runtime_cases_testing.h"

namespace pipedream::test {
namespace {

// The exit code of a process that the sanitizer ends.
const testing::ExitedWithCode kRace(66);

class ThreadSanitizerDeathTest : public testing::Test {
 protected:
  ThreadSanitizerDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ThreadSanitizerDeathTest, SeesARaceOfTwoWorkers) {
  model::Network network = small_network("mlp");
  plan::Plan plan = cut_straight(network, "pipedream", 2);
  const Case test(std::move(network), std::move(plan), {.minibatches = 4});
  runtime::Job job = make_job(test.network, test.plan);
  int ops = 0;
  job.before_op = [&](WorkerId, const schedule::Op&) { ++ops; };
  EXPECT_EXIT(runtime::run_schedule(job, test.schedule, test.extent, test.feed), kRace,
              "data race");
}

TEST_F(ThreadSanitizerDeathTest, SeesARaceInWhatAutogradCalls) {
  int calls = 0;
  const auto backward = [&] {
    const at::Tensor leaf = at::ones({2}).requires_grad_();
    at::Tensor twice = leaf * 2;
    twice.register_hook([&](const at::Tensor&) { ++calls; });
    twice.sum().backward();
  };
  // Repeated many times, because locks of libtorch order many of the calls.
  const auto many = [&] {
    for (int i = 0; i < 1000; ++i) backward();
  };
  const auto on_two_threads = [&] {
    const std::jthread other(many);
    many();
  };
  EXPECT_EXIT(on_two_threads(), kRace, "data race");
}

// A worker may see what another wrote into a tensor only after a message. Without one the sanitizer
// must report a race.
TEST_F(ThreadSanitizerDeathTest, SeesARaceForATensorsMemory) {
  const at::Tensor shared = at::ones({2});
  const auto write = [&] { shared.data_ptr<float>()[0] = 2; };
  const auto on_two_threads = [&] {
    const std::jthread other(write);
    write();
  };
  EXPECT_EXIT(on_two_threads(), kRace, "data race");
}

}  // namespace
}  // namespace pipedream::test
