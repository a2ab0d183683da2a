#include "transport/lane_sums.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "transport/contract_testing.h"
#include "transport/in_process.h"
#include "transport/lanes_testing.h"

namespace pipedream::transport {
namespace {

using FloatVector = std::vector<float>;

// Calls `body` on each of `workers` threads, with a Reducer that sums by lanes in host memory.
void on_lanes(int workers, const std::shared_ptr<HostLanesExchange>& exchange,
              const std::function<void(WorkerId me, Reducer&)>& body) {
  const Endpoints ends = connect_in_process(workers);
  std::vector<std::jthread> threads;
  for (const auto& end : ends)
    threads.emplace_back([&] {
      Reducer reducer(*end, sum_by_lanes(*end, std::make_unique<HostLanes>(exchange)));
      body(end->me(), reducer);
    });
}

TEST(LaneSums, GroupsSumInPlaceEachOnItsLane) {
  const auto exchange = std::make_shared<HostLanesExchange>();
  std::atomic<std::int64_t> sent = 0;
  on_lanes(3, exchange, [&](WorkerId me, Reducer& reducer) {
    const std::vector<WorkerId> all{kC, kA, kB}, pair{kA, kB};
    for (int round = 0; round < 3; ++round) {
      const auto mine =
          std::make_shared<FloatVector>(FloatVector{static_cast<float>(me.value), 10});
      const Reduction of_all = reducer.wait(reducer.start(all, 0, *mine, mine), soon());
      EXPECT_EQ(*mine, (FloatVector{3, 30}));
      sent += of_all.sent.count;
      if (me == kC) continue;
      reducer.wait(reducer.start(pair, 1, *mine, mine), soon());
      EXPECT_EQ(*mine, (FloatVector{6, 60}));
    }
  });
  EXPECT_EQ(exchange->opened(), 2U);
  EXPECT_EQ(sent, 3 * 2 * 2 * 8) << "rounds × 2 (r − 1) × bytes, though 3 does not divide them";
}

TEST(LaneSums, OneMemberAloneAndNoValuesAtAllAreSums) {
  on_lanes(1, std::make_shared<HostLanesExchange>(), [](WorkerId, Reducer& reducer) {
    const auto mine = std::make_shared<FloatVector>(FloatVector{1, 2, 3});
    const Reduction alone = reducer.wait(reducer.start({kA}, 0, *mine, mine), soon());
    EXPECT_EQ(*mine, (FloatVector{1, 2, 3}));
    EXPECT_EQ(alone.sent, Bytes{0});
    reducer.wait(reducer.start({kA}, 0, {}, nullptr), soon());
  });
}

TEST(LaneSums, TheOneWhoIsEarlyIsToldHowLate) {
  constexpr std::chrono::milliseconds kLate{50};
  on_lanes(2, std::make_shared<HostLanesExchange>(), [&](WorkerId me, Reducer& reducer) {
    const auto mine = std::make_shared<FloatVector>(FloatVector{1});
    for (const WorkerId late : {kA, kB}) {
      // After this sum both members are at the same place.
      reducer.wait(reducer.start({kA, kB}, 0, *mine, mine), soon());
      if (me == late) std::this_thread::sleep_for(kLate);
      const Reduction sum = reducer.wait(reducer.start({kA, kB}, 0, *mine, mine), soon());
      if (me == late) continue;
      EXPECT_GT(sum.waited, kLate / 2);
    }
  });
}

TEST(LaneSums, AnAbortEndsASumThatOthersDoNotTakePartIn) {
  on_lanes(2, std::make_shared<HostLanesExchange>(), [](WorkerId me, Reducer& reducer) {
    if (me == kB) return;
    const auto mine = std::make_shared<FloatVector>(FloatVector{1, 2, 3});
    const Ticket ticket = reducer.start({kA, kB}, 0, *mine, mine);
    reducer.abort("enough");
    EXPECT_EQ(message_of<Aborted>([&] { reducer.wait(ticket, soon()); }), "enough");
  });
}

TEST(LaneSums, ABrokenLaneFailsTheSumWithItsReason) {
  const auto exchange = std::make_shared<HostLanesExchange>();
  exchange->break_all("the link broke");
  on_lanes(1, exchange, [](WorkerId, Reducer& reducer) {
    const auto mine = std::make_shared<FloatVector>(FloatVector{1, 2, 3});
    const Ticket ticket = reducer.start({kA}, 0, *mine, mine);
    EXPECT_EQ(message_of<WorkerLost>([&] { reducer.wait(ticket, soon()); }), "the link broke");
  });
}

}  // namespace
}  // namespace pipedream::transport
