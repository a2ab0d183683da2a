// Lanes between threads, in the host's memory, so that what is built on lanes is tested without
// devices. Closing one waits until all its members close it, as NCCL may. Only *_test.cpp files
// include this.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/check.h"
#include "core/error.h"
#include "transport/lanes.h"

namespace pipedream::transport {

// The state that the lanes of all workers share. Thread-safe.
class HostLanesExchange {
 public:
  // From now on every lane is broken, with this reason.
  void break_all(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    broken_ = reason;
  }
  // While `held`, no operation on any lane completes.
  void hold(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
  }
  // How many lanes have been opened. All ends of a lane count as one.
  [[nodiscard]] std::size_t opened() {
    const std::lock_guard lock(mutex_);
    return lanes_.size();
  }

 private:
  friend class HostLane;
  friend class HostLanes;
  // One member's part of an operation.
  struct Thing {
    std::span<const std::byte> from;
    std::span<std::byte> into;
    bool sums = false;
  };
  // The state of one lane, shared by its members.
  struct Shared {
    std::vector<std::deque<Thing>> begun;  // for each member, operations begun and not done
    std::uint64_t done = 0;                // operations completed
    int open = 0;  // members that have opened the lane and not begun to close it
  };

  // Completes the operations that all members have begun. Requires `mutex_` to be locked.
  void move_on(Shared& lane) const {
    if (!broken_.empty()) throw WorkerLost(broken_);
    const auto some = [](const auto& begun) { return !begun.empty(); };
    while (!held_ && std::all_of(lane.begun.begin(), lane.begun.end(), some)) {
      lane.begun.front().front().sums ? do_sum(lane) : do_copy(lane);
      for (std::deque<Thing>& begun : lane.begun) begun.pop_front();
      ++lane.done;
    }
  }
  static void do_copy(const Shared& lane) {
    const Thing& first = lane.begun.front().front();
    const Thing& last = lane.begun.back().front();
    PD_CHECK(first.from.size() == last.into.size() && !first.from.empty());
    std::memcpy(last.into.data(), first.from.data(), first.from.size());
  }
  static std::span<float> floats_of(const Thing& thing) {
    return {reinterpret_cast<float*>(thing.into.data()), thing.into.size() / sizeof(float)};
  }
  static void do_sum(const Shared& lane) {
    const std::span<float> first = floats_of(lane.begun.front().front());
    for (std::size_t member = 1; member < lane.begun.size(); ++member) {
      const std::span<float> next = floats_of(lane.begun[member].front());
      PD_CHECK(next.size() == first.size());
      for (std::size_t i = 0; i < first.size(); ++i) first[i] += next[i];
    }
    for (const auto& begun : lane.begun)
      std::copy(first.begin(), first.end(), floats_of(begun.front()).begin());
  }

  std::mutex mutex_;  // guards all members, and all that `lanes_` point to
  std::condition_variable closed_;
  std::map<std::vector<std::byte>, std::shared_ptr<Shared>> lanes_;  // by name
  std::uint32_t names_ = 0;
  std::string broken_;
  bool held_ = false;
};

class HostLane final : public Lane {
 public:
  HostLane(std::shared_ptr<HostLanesExchange> exchange,
           std::shared_ptr<HostLanesExchange::Shared> shared, std::size_t place)
      : exchange_(std::move(exchange)), shared_(std::move(shared)), place_(place) {
    ++shared_->open;
  }
  ~HostLane() override {
    std::unique_lock lock(exchange_->mutex_);
    shared_->begun[place_].clear();
    --shared_->open;
    exchange_->closed_.notify_all();
    EXPECT_TRUE(exchange_->closed_.wait_for(lock, std::chrono::seconds(5), [&] {
      return shared_->open == 0;
    })) << "the other members do not close it";
  }
  void send(std::span<const std::byte> bytes) override {
    PD_CHECK(shared_->begun.size() == 2 && place_ == 0);
    begin({bytes, {}, false});
  }
  void receive(std::span<std::byte> into) override {
    PD_CHECK(shared_->begun.size() == 2 && place_ == 1);
    begin({{}, into, false});
  }
  void copy(std::span<const std::byte> bytes, std::span<std::byte> into) override {
    PD_CHECK(shared_->begun.size() == 1);
    begin({bytes, into, false});
  }
  void sum(std::span<float> values) override { begin({{}, std::as_writable_bytes(values), true}); }
  std::uint64_t done() override {
    const std::lock_guard lock(exchange_->mutex_);
    exchange_->move_on(*shared_);
    return shared_->done;
  }

 private:
  void begin(HostLanesExchange::Thing thing) {
    const std::lock_guard lock(exchange_->mutex_);
    shared_->begun[place_].push_back(thing);
  }

  std::shared_ptr<HostLanesExchange> exchange_;
  std::shared_ptr<HostLanesExchange::Shared> shared_;
  std::size_t place_;
};

class HostLanes final : public Lanes {
 public:
  explicit HostLanes(std::shared_ptr<HostLanesExchange> exchange)
      : exchange_(std::move(exchange)) {}

  std::vector<std::byte> new_name() override {
    const std::lock_guard lock(exchange_->mutex_);
    const std::uint32_t number = ++exchange_->names_;
    std::vector<std::byte> name(sizeof number);
    std::memcpy(name.data(), &number, sizeof number);
    return name;
  }
  std::unique_ptr<Lane> open(std::span<const std::byte> name, int members, int place) override {
    const std::lock_guard lock(exchange_->mutex_);
    auto& shared = exchange_->lanes_[{name.begin(), name.end()}];
    if (!shared) shared = std::make_shared<HostLanesExchange::Shared>();
    shared->begun.resize(static_cast<std::size_t>(members));
    return std::make_unique<HostLane>(exchange_, shared, static_cast<std::size_t>(place));
  }
  DeviceMemory allocate(std::size_t bytes) override {
    const auto memory = std::make_shared_for_overwrite<std::byte[]>(bytes);
    return {{memory.get(), bytes}, memory};
  }

 private:
  std::shared_ptr<HostLanesExchange> exchange_;
};

}  // namespace pipedream::transport
