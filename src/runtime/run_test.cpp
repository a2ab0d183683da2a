#include "runtime/run.h"

#include <condition_variable>
#include <stdexcept>

#include <gtest/gtest.h>

#include <ATen/ops/arange.h>

#include "core/testing.h"
#include "runtime/tensor_message.h"

namespace pipedream::runtime {
namespace {

TEST(RunWorkers, TheFirstFailureWinsAndWakesTheOthers) {
  std::mutex mutex;
  std::condition_variable changed;
  bool aborted = false;
  const auto wait_for_abort = [&](int worker) {
    if (worker == 2) throw std::runtime_error("worker 2 failed");
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return aborted; });
    throw std::runtime_error("woken");
  };
  const auto abort = [&] {
    const std::lock_guard lock(mutex);
    aborted = true;
    changed.notify_all();
  };
  EXPECT_EQ(test::message_of<std::runtime_error>([&] { run_workers(4, wait_for_abort, abort); }),
            "worker 2 failed");
}

TEST(TensorMessage, CarriesTypeShapeAndMemoryWithoutACopy) {
  const at::Tensor sent = at::arange(6, at::kLong).view({2, 3});
  const at::Tensor received = to_tensor(to_message(sent));
  EXPECT_TRUE(at::equal(sent, received));
  EXPECT_EQ(received.scalar_type(), at::kLong);
  EXPECT_EQ(received.const_data_ptr(), sent.const_data_ptr());
}

TEST(TensorMessage, KeepsTheMemoryAliveAndStraightensStrides) {
  at::Tensor received;
  {
    const at::Tensor sent = at::arange(6, at::kFloat).view({2, 3}).t();
    received = to_tensor(to_message(sent));
  }
  EXPECT_TRUE(at::equal(received, at::arange(6, at::kFloat).view({2, 3}).t()));
}

}  // namespace
}  // namespace pipedream::runtime
