// The contract of Transport::abort(), held against every backend.
#include <array>
#include <iostream>
#include <string>
#include <thread>

#include "transport/contract_testing.h"

namespace pipedream::transport {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

TEST_P(TransportContract, AbortWakesAllWaiters) {
  constexpr int kWorkers = 4;
  constexpr WorkerId kLast{kWorkers - 1};
  // Each worker but the last waits for the one after it. The last calls abort() when all others
  // have told it that they are about to wait, and gives the time as the reason.
  run(kWorkers, [&](Transport& me) {
    if (me.me() == kLast) {
      for (int other = 0; other < kLast.value; ++other) (void)next_text(me, WorkerId{other}, 1);
      me.abort(std::to_string(steady_clock::now().time_since_epoch() / 1us));
      return;
    }
    const Ticket ticket = me.receive(WorkerId{me.me().value + 1}, 0);
    me.send(kLast, 1, make_message({}, "about to wait"));
    const std::string reason = message_of<Aborted>([&] { (void)me.wait(ticket, soon()); });
    const std::int64_t now = steady_clock::now().time_since_epoch() / 1us;
    ASSERT_NE(reason, "");
    std::cout << "worker " + std::to_string(me.me().value) + " woke " +
                     std::to_string(now - std::stoll(reason)) + " us after abort()\n";
  });
}

TEST_P(TransportContract, AfterAbortNobodyWaitsAnyMore) {
  run(2, [](Transport& me) {
    if (me.me() == kA) {
      me.send(kB, 0, make_message({}, "too late"));
      me.abort("first reason");
      me.abort("second reason");
      EXPECT_EQ(message_of<Aborted>([&] { (void)next_text(me, kB, 0); }), "first reason");
    } else {
      EXPECT_EQ(message_of<Aborted>([&] { (void)next_text(me, kA, 1); }), "first reason");
      EXPECT_EQ(message_of<Aborted>([&] { (void)next_text(me, kA, 0); }), "first reason")
          << "not even for a message that is there";
    }
  });
}

TEST_P(TransportContract, AfterAbortAMessageThatCameBesideAnotherIsNotHandedOut) {
  run(2, [](Transport& me) {
    if (me.me() == kA) {
      me.send(kB, 0, make_message({}, "one"));
      me.send(kB, 1, make_message({}, "two"));
      (void)next_text(me, kB, 0);
      me.abort("enough");
    } else {
      const std::array both{me.receive(kA, 0), me.receive(kA, 1)};
      const std::size_t first = me.wait_any(both, soon()).ticket;
      me.send(kA, 0, make_message({}, "abort now"));
      EXPECT_EQ(message_of<Aborted>([&] { (void)next_text(me, kA, 2); }), "enough");
      EXPECT_EQ(message_of<Aborted>([&] { (void)me.wait(both[1 - first], soon()); }), "enough");
    }
  });
}

TEST_P(TransportContract, AnAbortReachesWorkersThatWaitOnlyLater) {
  run(2, [](Transport& me) {
    if (me.me() == kA) {
      me.abort("");
    } else {
      std::this_thread::sleep_for(20ms);  // stands for computing
      EXPECT_EQ(message_of<Aborted>([&] { (void)next_text(me, kA, 0); }), "");
    }
  });
}

TEST_P(TransportContract, AbortMayComeFromAThreadThatDoesNotOwnTheEndpoint) {
  run(2, [](Transport& me) {
    if (me.me() != kA) return;
    std::jthread other([&] { me.abort("from outside"); });
    EXPECT_EQ(message_of<Aborted>([&] { (void)next_text(me, kB, 0); }), "from outside");
  });
}

TEST_P(TransportContract, ChannelsDoNotHearEachOther) {
  run_with_channels(2, 2, [](Endpoints& mine) {
    if (mine[0]->me() == kA) {
      mine[0]->send(kB, 0, make_message({}, "one"));
      mine[1]->send(kB, 0, make_message({}, "other"));
      (void)next_text(*mine[1], kB, 0);
      mine[0]->abort("only one");
      mine[1]->send(kB, 0, make_message({}, "still there"));
    } else {
      EXPECT_EQ(next_text(*mine[1], kA, 0), "other");
      EXPECT_EQ(next_text(*mine[0], kA, 0), "one");
      mine[1]->send(kA, 0, make_message({}, "abort now"));
      EXPECT_EQ(message_of<Aborted>([&] { (void)next_text(*mine[0], kA, 0); }), "only one");
      EXPECT_EQ(next_text(*mine[1], kA, 0), "still there");
    }
  });
}

}  // namespace
}  // namespace pipedream::transport
