#include "train/stopper.h"

#include <atomic>
#include <future>
#include <random>

#include <gtest/gtest.h>

#include "transport/in_process.h"

namespace pipedream::train {
namespace {

constexpr std::int64_t kRound = 4;

// Workers that begin one minibatch after another, at speeds of their own, until they are told to
// end or have begun `all`.
class Walkers {
 public:
  Walkers(int count, std::int64_t all) : all_(all), ends_(transport::connect_in_process(count)) {
    begun_.resize(ends_.size(), -1);
  }
  // Asks to stop when any worker has begun `ask_at`.
  void run(std::int64_t ask_at, unsigned seed) {
    std::vector<std::jthread> threads;
    for (std::size_t w = 0; w < ends_.size(); ++w)
      threads.emplace_back([this, w, ask_at, seed] { walk(w, ask_at, seed); });
  }
  [[nodiscard]] const std::vector<std::int64_t>& begun() const { return begun_; }

 private:
  void walk(std::size_t w, std::int64_t ask_at, unsigned seed) {
    std::mt19937 random(seed + static_cast<unsigned>(w));
    Stopper stopper(*ends_[w], {[this] { return asked_.load(); },
                                [this](std::int64_t begun) {
                                  return std::min(all_, (begun + kRound) / kRound * kRound);
                                },
                                std::chrono::seconds(20)});
    for (std::int64_t next = 0; next < all_; ++next) {
      if (stopper.end_before(next)) break;
      begun_[w] = next;
      if (next >= ask_at) asked_ = true;
      if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    }
    stopper.finish();
  }

  std::int64_t all_;
  std::vector<std::unique_ptr<transport::Transport>> ends_;
  std::vector<std::int64_t> begun_;  // each by its own thread
  std::atomic<bool> asked_ = false;
};

TEST(Stopper, AllWorkersEndAtTheSameWholeUpdate) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Walkers walkers(1 + static_cast<int>(seed % 5), 100'000'000);
    walkers.run(static_cast<std::int64_t>(seed * 7), seed);
    for (const std::int64_t begun : walkers.begun()) {
      EXPECT_EQ(begun, walkers.begun().front()) << seed;
      EXPECT_EQ((begun + 1) % kRound, 0) << seed;
      EXPECT_GE(begun, static_cast<std::int64_t>(seed * 7)) << seed;
    }
  }
}

TEST(Stopper, ARunThatEndsBeforeItIsAskedEndsAsItWould) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Walkers walkers(3, 50);
    walkers.run(seed < 15 ? 1000 : 49, seed);  // never, or at the very end
    for (const std::int64_t begun : walkers.begun()) EXPECT_EQ(begun, 49) << seed;
  }
}

// A worker that is destroyed without finish(), because it has failed, keeps nobody waiting.
TEST(Stopper, AFailedWorkerLetsTheOthersGoOn) {
  const auto ends = transport::connect_in_process(2);
  const Stopper::Rules rules{[] { return true; }, [](std::int64_t begun) { return begun + 1; },
                             std::chrono::seconds(20)};
  std::optional<Stopper> first(std::in_place, *ends[0], rules);
  first.reset();
  Stopper second(*ends[1], rules);
  for (std::int64_t next = 0; next < 10; ++next) (void)second.end_before(next);
  second.finish();
}

// What the user's function throws is thrown in the worker's thread.
TEST(Stopper, AFailureToAskIsToldToTheWorker) {
  const auto ends = transport::connect_in_process(1);
  std::promise<void> called;
  const Stopper::Rules rules{[&]() -> bool {
                               called.set_value();
                               throw std::runtime_error("no answer");
                             },
                             [](std::int64_t begun) { return begun + 1; },
                             std::chrono::seconds(20)};
  Stopper stopper(*ends[0], rules);
  called.get_future().wait();
  EXPECT_THROW(stopper.finish(), std::runtime_error);
  EXPECT_THROW((void)stopper.end_before(0), std::runtime_error);
}

// The training goes on, and all workers know that.
TEST(Stopper, AWorkerThatDoesNotAnswerIsNotWaitedForForEver) {
  const auto ends = transport::connect_in_process(3);
  const Stopper::Rules rules{[] { return true; }, [](std::int64_t begun) { return begun + 1; },
                             std::chrono::milliseconds(50)};
  Stopper first(*ends[0], rules);
  Stopper second(*ends[1], rules);
  first.finish();
  second.finish();
  EXPECT_EQ(first.end_before(7), std::nullopt);
  EXPECT_EQ(second.end_before(7), std::nullopt);
}

}  // namespace
}  // namespace pipedream::train
