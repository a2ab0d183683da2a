#include "runtime/read_ahead.h"

#include <atomic>
#include <future>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/ops/full.h>

#include "core/testing.h"

namespace pipedream::runtime {
namespace {

using schedule::Item;

constexpr StageId kStage{3};

// What is read of an item is its number.
Values number_of(const Item& item) {
  return {{ValueId{0}, at::full({}, static_cast<double>(item.minibatch))}};
}
double number_in(const Values& values) { return values.at(ValueId{0}).item<double>(); }

TEST(ReadAhead, ReadsWhatIsWantedOnAThreadOfItsOwnInThatOrder) {
  std::vector<std::int64_t> order;  // written by the reading thread, read after drop()
  std::atomic<bool> own_thread = true;
  const auto me = std::this_thread::get_id();
  ReadAhead reader([&](StageId, const Item& item) {
    order.push_back(item.minibatch);
    if (std::this_thread::get_id() == me) own_thread = false;
    return number_of(item);
  });
  for (const std::int64_t minibatch : {4, 1, 9}) reader.want(kStage, {minibatch, 0});
  EXPECT_EQ(reader.waiting(), 3);
  for (const std::int64_t minibatch : {9, 4, 1})
    EXPECT_EQ(number_in(reader.take(kStage, {minibatch, 0})), static_cast<double>(minibatch));
  EXPECT_EQ(reader.waiting(), 0);
  reader.drop();
  EXPECT_EQ(order, (std::vector<std::int64_t>{4, 1, 9}));
  EXPECT_TRUE(own_thread);
}

TEST(ReadAhead, ReadsWhatNobodyWantedWhenItIsTaken) {
  ReadAhead reader([](StageId, const Item& item) { return number_of(item); });
  EXPECT_EQ(number_in(reader.take(kStage, {7, 0})), 7);
}

TEST(ReadAhead, ThrowsAFailureWhereTheItemIsTakenAndGoesOnWithTheNext) {
  ReadAhead reader([](StageId, const Item& item) {
    if (item.minibatch == 0) throw std::runtime_error("a bad sample");
    return number_of(item);
  });
  reader.want(kStage, {0, 0});
  reader.want(kStage, {1, 0});
  EXPECT_EQ(number_in(reader.take(kStage, {1, 0})), 1);
  EXPECT_EQ(test::message_of<std::runtime_error>([&] {
              (void)reader.take(kStage, {0, 0});
            }),
            "a bad sample");
}

TEST(ReadAhead, DropWaitsForTheReadUnderWayAndLeavesTheOthersUnread) {
  std::promise<void> begun;
  std::promise<void> go_on;
  std::atomic<int> reads = 0;
  ReadAhead reader([&](StageId, const Item& item) {
    if (++reads == 1) {
      begun.set_value();
      go_on.get_future().wait();
    }
    return number_of(item);
  });
  reader.want(kStage, {0, 0});
  reader.want(kStage, {1, 0});
  begun.get_future().wait();
  auto dropped = std::async(std::launch::async, [&] { reader.drop(); });
  EXPECT_EQ(dropped.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  go_on.set_value();
  dropped.get();
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(reader.waiting(), 0);
  reader.want(kStage, {1, 0});  // may be asked for again
  EXPECT_EQ(number_in(reader.take(kStage, {1, 0})), 1);
}

TEST(ReadAhead, EndsWithItemsThatNobodyTook) {
  ReadAhead reader([](StageId, const Item& item) { return number_of(item); });
  for (std::int64_t minibatch = 0; minibatch < 100; ++minibatch)
    reader.want(kStage, {minibatch, 0});
}

}  // namespace
}  // namespace pipedream::runtime
