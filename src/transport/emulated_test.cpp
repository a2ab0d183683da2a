#include "transport/emulated.h"

#include <memory>
#include <string>

#include "transport/contract_testing.h"
#include "transport/in_process.h"

namespace pipedream::transport {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

Endpoints connect(const Links& links, int workers) {
  return connect_emulated(connect_in_process(workers),
                          std::make_shared<LinkQueues>(links, workers));
}

Endpoints connect_fast(int workers) {
  return connect({.bytes_per_second = 1e9, .latency = 50us}, workers);
}

PD_HOLD_TO_CONTRACTS(Emulated, on_threads("emulated_over_in_process", connect_fast));

// ---- when messages arrive; at 1 kB/s a byte takes 1 ms ----

constexpr Deadline kStart{1000s};

TEST(LinkQueues, AMessageTakesItsBytesAndTheLatency) {
  LinkQueues queues({.bytes_per_second = 1000, .latency = 7ms}, 2);
  EXPECT_EQ(queues.arrival(kA, kB, 100, kStart) - kStart, 107ms);
}

TEST(LinkQueues, MessagesOfOneWorkerLeaveOneAfterAnotherWhereverTheyGo) {
  LinkQueues queues({.bytes_per_second = 1000, .latency = 7ms}, 3);
  EXPECT_EQ(queues.arrival(kA, kB, 100, kStart) - kStart, 107ms);
  EXPECT_EQ(queues.arrival(kA, kC, 50, kStart + 10ms) - kStart, 157ms);
  EXPECT_EQ(queues.arrival(kB, kA, 50, kStart + 10ms) - kStart, 67ms) << "another worker's link";
  EXPECT_EQ(queues.arrival(kA, kB, 1, kStart + 1s) - kStart, 1008ms) << "free again";
}

TEST(LinkQueues, AGroupSharesOneLinkToTheOthersAndNeedsNoneWithin) {
  LinkQueues queues({.bytes_per_second = 1000, .latency = 0ms, .shared = {{kA, kB}}}, 3);
  EXPECT_EQ(queues.arrival(kA, kC, 100, kStart) - kStart, 100ms);
  EXPECT_EQ(queues.arrival(kB, kC, 100, kStart) - kStart, 200ms);
  EXPECT_EQ(queues.arrival(kA, kB, 100, kStart) - kStart, 0ms);
  EXPECT_EQ(queues.arrival(kC, kA, 100, kStart) - kStart, 100ms);
}

TEST(LinkQueues, WithoutLimitsNothingIsHeldBack) {
  LinkQueues queues({}, 2);
  EXPECT_EQ(queues.arrival(kA, kB, 1U << 30, kStart), kStart);
}

// ---- the waits ----

TEST(Emulated, BytesTakeAtLeastTheirTimeOnTheLink) {
  const Endpoints ends = connect({.bytes_per_second = 1e6, .latency = 5ms}, 2);
  const auto began = steady_clock::now();
  for (int i = 0; i < 3; ++i) ends[0]->send(kB, 0, make_message({i}, std::string(10'000, 'x')));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(next_message(*ends[1], kA, 0).header, std::vector<std::int64_t>{i});
    EXPECT_GE(steady_clock::now() - began, (i + 1) * 10ms + 5ms);
  }
}

TEST(Emulated, ChannelsOfAWorkerShareItsLink) {
  const auto queues = std::make_shared<LinkQueues>(Links{.bytes_per_second = 1e6}, 2);
  const Endpoints one = connect_emulated(connect_in_process(2), queues);
  const Endpoints other = connect_emulated(connect_in_process(2), queues);
  const auto began = steady_clock::now();
  one[0]->send(kB, 0, make_message({}, std::string(10'000, 'x')));
  other[0]->send(kB, 0, make_message({}, std::string(10'000, 'x')));
  (void)next_message(*other[1], kA, 0);
  EXPECT_GE(steady_clock::now() - began, 20ms);
}

class SlowLink : public testing::Test {
 protected:
  // A sends B a message that takes an hour to arrive.
  void SetUp() override { ends[0]->send(kB, 0, make_message({}, std::string(3600, 'x'))); }

  Endpoints ends = connect({.bytes_per_second = 1}, 2);
};

TEST_F(SlowLink, ADeadlineBeforeTheArrivalIsKept) {
  const Ticket ticket = ends[1]->receive(kA, 0);
  EXPECT_EQ(
      message_of<WorkerLost>([&] { (void)ends[1]->wait(ticket, steady_clock::now() + 30ms); }),
      "worker 0 sent nothing before the deadline");
}

TEST_F(SlowLink, AbortWakesAWaiterBeforeTheArrival) {
  std::jthread aborts([&] {
    std::this_thread::sleep_for(20ms);  // by then B very probably sleeps
    ends[0]->abort("enough");
  });
  EXPECT_EQ(message_of<Aborted>([&] { (void)next_message(*ends[1], kA, 0); }), "enough");
}

TEST_F(SlowLink, OthersAreNotHeldBack) {
  ends[1]->send(kB, 0, make_message({}, "to oneself"));
  EXPECT_EQ(next_text(*ends[1], kB, 0), "to oneself");
}

}  // namespace
}  // namespace pipedream::transport
