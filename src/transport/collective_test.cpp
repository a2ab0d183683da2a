#include "transport/collective.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "transport/contract_testing.h"
#include "transport/in_process.h"

namespace pipedream::transport {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

const std::vector<WorkerId> kPair{kA, kB};

std::shared_ptr<std::vector<float>> floats(std::vector<float> values) {
  return std::make_shared<std::vector<float>>(std::move(values));
}

TEST_P(ReducerContract, SumsQueueAndRunInTheOrderOfStarting) {
  run_with_channels(2, 2, [](Endpoints& mine) {
    const WorkerId me = mine[0]->me();
    Reducer reducer(*mine[1]);
    const auto first = floats(std::vector<float>(100'000, 1.0F));
    const auto second = floats({static_cast<float>(me.value), 10});
    const Ticket one = reducer.start(kPair, 0, *first, first);
    const Ticket two = reducer.start(kPair, 0, *second, second);
    const Reduction later = reducer.wait(two, soon());
    const Reduction earlier = reducer.wait(one, soon());
    EXPECT_EQ(*first, std::vector<float>(100'000, 2.0F));
    EXPECT_EQ(*second, (std::vector<float>{1, 20}));
    EXPECT_LE(earlier.began, earlier.ended);
    EXPECT_LE(earlier.ended, later.began);
    EXPECT_GE(earlier.ended - earlier.began, earlier.waited);
  });
}

TEST_P(ReducerContract, TheWorkerGoesOnMeanwhile) {
  run_with_channels(2, 2, [](Endpoints& mine) {
    Transport& own = *mine[0];
    Reducer reducer(*mine[1]);
    const auto values = floats({1, 2, 3});
    if (own.me() == kA) {
      // B joins the sum only after this message, which A sends while its own sum is running.
      const Ticket ticket = reducer.start(kPair, 0, *values, values);
      own.send(kB, 0, make_message({}, "begun"));
      reducer.wait(ticket, soon());
    } else {
      EXPECT_EQ(next_text(own, kA, 0), "begun");
      reducer.wait(reducer.start(kPair, 0, *values, values), soon());
    }
    EXPECT_EQ(*values, (std::vector<float>{2, 4, 6}));
  });
}

TEST_P(ReducerContract, ASumBeginsWhenItsValuesAreReady) {
  run_with_channels(2, 2, [](Endpoints& mine) {
    Reducer reducer(*mine[1]);
    const auto values = floats({0, 0});
    const auto ready = std::make_shared<std::atomic<bool>>(false);
    const Ticket ticket =
        reducer.start(kPair, 0, *values, values, [ready] { return ready->load(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    *values = {1, 2};
    *ready = true;
    reducer.wait(ticket, soon());
    EXPECT_EQ(*values, (std::vector<float>{2, 4}));
  });
}

TEST_P(ReducerContract, AFailureReachesAllWaits) {
  run_with_channels(2, 2, [](Endpoints& mine) {
    if (mine[0]->me() == kB) {
      EXPECT_EQ(next_text(*mine[0], kA, 0), "started");
      mine[1]->abort("B gives up");
      return;
    }
    Reducer reducer(*mine[1]);
    const auto values = floats({1, 2, 3});
    const Ticket one = reducer.start(kPair, 0, *values, values);
    const Ticket two = reducer.start(kPair, 0, *values, values);
    mine[0]->send(kB, 0, make_message({}, "started"));
    EXPECT_EQ(message_of<Aborted>([&] { reducer.wait(two, soon()); }), "B gives up");
    EXPECT_EQ(message_of<Aborted>([&] { reducer.wait(one, soon()); }), "B gives up");
    const Ticket three = reducer.start(kPair, 0, *values, values);
    EXPECT_EQ(message_of<Aborted>([&] { reducer.wait(three, soon()); }), "B gives up");
  });
}

TEST_P(ReducerContract, AWaitPastItsDeadlineNamesTheMembers) {
  run_with_channels(2, 1, [](Endpoints& mine) {
    if (mine[0]->me() == kB) return;
    Reducer reducer(*mine[0]);
    const auto values = floats({1, 2, 3});
    const Ticket ticket = reducer.start(kPair, 0, *values, values);
    EXPECT_EQ(message_of<WorkerLost>([&] { reducer.wait(ticket, steady_clock::now() + 50ms); }),
              "the sum over workers 0, 1 was not finished before the deadline");
  });
}

TEST_P(ReducerContract, LeavingWithSumsUnfinishedEndsThemEverywhere) {
  run_with_channels(2, 1, [](Endpoints& mine) {
    const WorkerId me = mine[0]->me();
    const auto values = floats({1, 2, 3});
    Reducer reducer(*mine[0]);
    if (me == kA) {
      (void)reducer.start(kPair, 5, *values, values);  // never ends: B sums with another tag
      return;
    }
    const Ticket ticket = reducer.start(kPair, 6, *values, values);
    EXPECT_EQ(message_of<Aborted>([&] { reducer.wait(ticket, soon()); }),
              "worker 0 left before its sums were finished");
  });
}

TEST_P(ReducerContract, AbortMayComeFromAnotherThread) {
  run_with_channels(2, 1, [](Endpoints& mine) {
    if (mine[0]->me() == kB) return;
    Reducer reducer(*mine[0]);
    const auto values = floats({1, 2, 3});
    const Ticket ticket = reducer.start(kPair, 0, *values, values);
    std::jthread other([&] { reducer.abort("from outside"); });
    EXPECT_EQ(message_of<Aborted>([&] { reducer.wait(ticket, soon()); }), "from outside");
  });
}

TEST(Reducer, LetsGoOfTheValuesWhenTheyAreDone) {
  Endpoints alone = connect_in_process(1);
  Reducer reducer(*alone[0]);
  auto values = floats({1, 2, 3});
  const std::weak_ptr<std::vector<float>> watched = values;
  const std::span<float> span(*values);
  const Ticket ticket = reducer.start({kA}, 0, span, std::move(values));
  reducer.wait(ticket, soon());
  EXPECT_TRUE(watched.expired());
}

TEST(ReducerDeathTest, ATicketIsUsedOnce) {
  Endpoints alone = connect_in_process(1);
  std::vector<float> values{1};
  EXPECT_DEATH(
      {
        Reducer reducer(*alone[0]);
        const Ticket ticket = reducer.start({kA}, 0, values, nullptr);
        reducer.wait(ticket, soon());
        reducer.wait(ticket, soon());
      },
      "entry != tickets_.end\\(\\)");
}

}  // namespace
}  // namespace pipedream::transport
