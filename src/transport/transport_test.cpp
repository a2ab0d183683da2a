// The contract of transport.h, held against every backend.
#include "transport/transport.h"

#include <cstring>
#include <functional>
#include <iostream>
#include <numeric>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "transport/in_process.h"

namespace pipedream::transport {
namespace {

using namespace std::chrono_literals;
using test::message_of;
using Endpoints = std::vector<std::unique_ptr<Transport>>;

struct Backend {
  std::string name;
  std::function<Endpoints(int)> connect;
};

constexpr WorkerId kA{0}, kB{1}, kC{2};

// Only a broken backend gets there.
Deadline soon() { return std::chrono::steady_clock::now() + 20s; }

Message make_message(std::vector<std::int64_t> header, std::string text) {
  const auto owner = std::make_shared<const std::string>(std::move(text));
  return {std::move(header), std::as_bytes(std::span(*owner)), owner};
}

std::string text_of(const Message& message) {
  return {reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size()};
}

std::string next_text(Transport& me, WorkerId from, int tag) {
  return text_of(me.wait(me.receive(from, tag), soon()));
}

// Runs body(worker) on a thread each and joins them all.
void on_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::jthread> threads;
  for (int worker = 0; worker < count; ++worker) threads.emplace_back(body, worker);
}

class TransportContract : public testing::TestWithParam<Backend> {
 protected:
  static Endpoints connect(int count) { return GetParam().connect(count); }
};

TEST_P(TransportContract, HeaderAndBytesArriveAsTheyWere) {
  const Endpoints ends = connect(2);
  const std::vector<std::int64_t> header{-1, 0, INT64_MAX, INT64_MIN};
  std::string every_byte(256, '\0');
  std::iota(every_byte.begin(), every_byte.end(), '\0');
  Message received;
  on_threads(2, [&](int worker) {
    if (worker == 0)
      ends[0]->send(kB, 7, make_message(header, every_byte));
    else
      received = ends[1]->wait(ends[1]->receive(kA, 7), soon());
  });
  EXPECT_EQ(received.header, header);
  EXPECT_EQ(text_of(received), every_byte);
}

TEST_P(TransportContract, AMessageMayBeEmpty) {
  const Endpoints ends = connect(2);
  ends[0]->send(kB, 0, make_message({3}, ""));
  ends[0]->send(kB, 0, Message{});
  const Message without_bytes = ends[1]->wait(ends[1]->receive(kA, 0), soon());
  EXPECT_EQ(without_bytes.header, std::vector<std::int64_t>{3});
  EXPECT_EQ(text_of(without_bytes), "");
  const Message without_anything = ends[1]->wait(ends[1]->receive(kA, 0), soon());
  EXPECT_EQ(without_anything.header, std::vector<std::int64_t>{});
  EXPECT_EQ(text_of(without_anything), "");
}

TEST_P(TransportContract, AMessageMayHave64Megabytes) {
  const Endpoints ends = connect(2);
  constexpr std::size_t kWords = (64 << 20) / sizeof(std::uint32_t);
  const auto words = std::make_shared<std::vector<std::uint32_t>>(kWords);
  std::iota(words->begin(), words->end(), 0xABCDEF01U);
  Message received;
  on_threads(2, [&](int worker) {
    if (worker == 0)
      ends[0]->send(kB, 0, {{}, std::as_bytes(std::span(*words)), words});
    else
      received = ends[1]->wait(ends[1]->receive(kA, 0), soon());
  });
  ASSERT_EQ(received.bytes.size(), kWords * sizeof(std::uint32_t));
  EXPECT_EQ(std::memcmp(received.bytes.data(), words->data(), received.bytes.size()), 0);
}

TEST_P(TransportContract, MessagesOfOneTagArriveInTheOrderOfSending) {
  const Endpoints ends = connect(2);
  std::vector<std::string> sent;
  for (int i = 0; i < 100; ++i) sent.push_back("message " + std::to_string(i));
  std::vector<std::string> received;
  on_threads(2, [&](int worker) {
    for (const std::string& text : sent) {
      if (worker == 0)
        ends[0]->send(kB, 0, make_message({}, text));
      else
        received.push_back(next_text(*ends[1], kA, 0));
    }
  });
  EXPECT_EQ(received, sent);
}

TEST_P(TransportContract, TheOrderOfAskingCountsNotThatOfWaiting) {
  const Endpoints ends = connect(2);
  const Ticket first = ends[1]->receive(kA, 0);
  const Ticket second = ends[1]->receive(kA, 0);
  ends[0]->send(kB, 0, make_message({}, "first"));
  ends[0]->send(kB, 0, make_message({}, "second"));
  EXPECT_EQ(text_of(ends[1]->wait(second, soon())), "second");
  EXPECT_EQ(text_of(ends[1]->wait(first, soon())), "first");
}

TEST_P(TransportContract, TagsAreIndependent) {
  const Endpoints ends = connect(2);
  ends[0]->send(kB, 1, make_message({}, "tag 1"));
  ends[0]->send(kB, 2, make_message({}, "tag 2"));
  ends[0]->send(kB, 2, make_message({}, "tag 2 again"));
  EXPECT_EQ(next_text(*ends[1], kA, 2), "tag 2");
  EXPECT_EQ(next_text(*ends[1], kA, 2), "tag 2 again");
  EXPECT_EQ(next_text(*ends[1], kA, 1), "tag 1");
}

TEST_P(TransportContract, PairsAreIndependentAndHaveADirection) {
  const Endpoints ends = connect(3);
  ends[0]->send(kC, 0, make_message({}, "A to C"));
  ends[1]->send(kC, 0, make_message({}, "B to C"));
  ends[0]->send(kB, 0, make_message({}, "A to B"));
  ends[1]->send(kA, 0, make_message({}, "B to A"));
  EXPECT_EQ(next_text(*ends[2], kB, 0), "B to C");
  EXPECT_EQ(next_text(*ends[2], kA, 0), "A to C");
  EXPECT_EQ(next_text(*ends[0], kB, 0), "B to A");
  EXPECT_EQ(next_text(*ends[1], kA, 0), "A to B");
}

TEST_P(TransportContract, OneMayAskBeforeTheMessageIsSent) {
  const Endpoints ends = connect(2);
  std::string answer;
  on_threads(2, [&](int worker) {
    if (worker == 0) {
      // B asks for the answer before it sends the question, so it is asked for before it is sent.
      const std::string question = next_text(*ends[0], kB, 0);
      ends[0]->send(kB, 0, make_message({}, question + "!"));
    } else {
      const Ticket asked = ends[1]->receive(kA, 0);
      ends[1]->send(kA, 0, make_message({}, "are you there"));
      answer = text_of(ends[1]->wait(asked, soon()));
    }
  });
  EXPECT_EQ(answer, "are you there!");
}

TEST_P(TransportContract, OneMayAskAfterTheMessageIsSent) {
  const Endpoints ends = connect(2);
  ends[0]->send(kB, 0, make_message({}, "already here"));
  EXPECT_EQ(next_text(*ends[1], kA, 0), "already here");
}

TEST_P(TransportContract, AWaitPastItsDeadlineNamesThePeer) {
  const Endpoints ends = connect(3);
  ends[0]->send(kC, 1, make_message({}, "another tag"));
  ends[1]->send(kC, 0, make_message({}, "another peer"));
  const Ticket ticket = ends[2]->receive(kA, 0);
  EXPECT_EQ(message_of<WorkerLost>(
                [&] { (void)ends[2]->wait(ticket, std::chrono::steady_clock::now() + 50ms); }),
            "worker 0 sent nothing before the deadline");
}

TEST_P(TransportContract, AbortWakesAllWaiters) {
  constexpr int kWorkers = 4;
  const Endpoints ends = connect(kWorkers);
  std::vector<std::string> messages(kWorkers);
  std::chrono::steady_clock::time_point aborted;
  // All but the last wait for the worker after them; the last calls abort once they are on their
  // way.
  on_threads(kWorkers, [&](int worker) {
    const auto me = static_cast<std::size_t>(worker);
    const WorkerId last{kWorkers - 1};
    if (worker != last.value) {
      const Ticket ticket = ends[me]->receive(WorkerId{worker + 1}, 0);
      ends[me]->send(last, 1, make_message({}, "about to wait"));
      messages[me] = message_of<WorkerLost>([&] { (void)ends[me]->wait(ticket, soon()); });
      return;
    }
    for (int other = 0; other < last.value; ++other) (void)next_text(*ends[me], WorkerId{other}, 1);
    aborted = std::chrono::steady_clock::now();
    ends[me]->abort();
  });
  const auto woken = std::chrono::steady_clock::now() - aborted;
  std::cout << "all woken " << std::chrono::duration_cast<std::chrono::microseconds>(woken).count()
            << " us after abort()\n";
  EXPECT_EQ(messages,
            (std::vector<std::string>{"the run was stopped while waiting for worker 1",
                                      "the run was stopped while waiting for worker 2",
                                      "the run was stopped while waiting for worker 3", ""}));
}

TEST_P(TransportContract, AfterAbortNobodyWaitsAnyMore) {
  const Endpoints ends = connect(2);
  ends[0]->send(kB, 0, make_message({}, "too late"));
  ends[0]->abort();
  ends[0]->abort();
  EXPECT_EQ(message_of<WorkerLost>([&] { (void)next_text(*ends[1], kA, 0); }),
            "the run was stopped while waiting for worker 0")
      << "not even for a message that is there";
  EXPECT_EQ(message_of<WorkerLost>([&] { (void)next_text(*ends[0], kB, 0); }),
            "the run was stopped while waiting for worker 1");
}

TEST_P(TransportContract, AbortMayComeFromAThreadThatDoesNotOwnTheEndpoint) {
  const Endpoints ends = connect(2);
  std::string message;
  on_threads(2, [&](int thread) {
    if (thread == 0)
      message = message_of<WorkerLost>([&] { (void)next_text(*ends[0], kB, 0); });
    else
      ends[0]->abort();
  });
  EXPECT_EQ(message, "the run was stopped while waiting for worker 1");
}

TEST_P(TransportContract, AMessageOutlivesTheEndpointAndTheOwnerOfItsSender) {
  Endpoints ends = connect(2);
  ends[0]->send(kB, 0, make_message({5}, "from beyond"));
  ends[0].reset();
  const Message message = ends[1]->wait(ends[1]->receive(kA, 0), soon());
  ends[1].reset();
  EXPECT_EQ(message.header, std::vector<std::int64_t>{5});
  EXPECT_EQ(text_of(message), "from beyond");
}

TEST_P(TransportContract, TwoConnectionsDoNotHearEachOther) {
  const Endpoints one = connect(2);
  const Endpoints other = connect(2);
  one[0]->send(kB, 0, make_message({}, "one"));
  other[0]->send(kB, 0, make_message({}, "other"));
  EXPECT_EQ(next_text(*other[1], kA, 0), "other");
  one[0]->abort();
  other[0]->send(kB, 0, make_message({}, "still there"));
  EXPECT_EQ(next_text(*other[1], kA, 0), "still there");
}

TEST_P(TransportContract, AllWorkersMayTalkToAllOthersAtOnce) {
  constexpr int kWorkers = 8, kMessages = 200, kTags = 3;
  const Endpoints ends = connect(kWorkers);
  const auto text = [](int from, int to, int number) {
    return std::to_string(from) + ">" + std::to_string(to) + "#" + std::to_string(number);
  };
  using Inbox = std::vector<std::string>;
  std::vector<Inbox> received(kWorkers);
  on_threads(kWorkers, [&](int me) {
    Transport& end = *ends[static_cast<std::size_t>(me)];
    for (int number = 0; number < kMessages; ++number) {
      for (int to = 0; to < kWorkers; ++to)
        if (to != me)
          end.send(WorkerId{to}, number % kTags, make_message({}, text(me, to, number)));
      for (int from = 0; from < kWorkers; ++from)
        if (from != me)
          received[static_cast<std::size_t>(me)].push_back(
              next_text(end, WorkerId{from}, number % kTags));
    }
  });
  std::vector<Inbox> wanted(kWorkers);
  for (int me = 0; me < kWorkers; ++me)
    for (int number = 0; number < kMessages; ++number)
      for (int from = 0; from < kWorkers; ++from)
        if (from != me) wanted[static_cast<std::size_t>(me)].push_back(text(from, me, number));
  EXPECT_EQ(received, wanted);
}

INSTANTIATE_TEST_SUITE_P(Backends, TransportContract,
                         testing::Values(Backend{"in_process", connect_in_process}),
                         [](const auto& backend) { return backend.param.name; });

// ---- what only in_process promises ----

TEST(InProcess, HandsOverTheSameMemoryAndLetsGoOfIt) {
  const Endpoints ends = connect_in_process(2);
  auto owner = std::make_shared<const std::string>("not copied");
  const std::weak_ptr<const std::string> watched = owner;
  ends[0]->send(kB, 0, {{}, std::as_bytes(std::span(*owner)), owner});
  const void* const sent = owner->data();
  owner.reset();
  EXPECT_FALSE(watched.expired()) << "under way";
  {
    const Message message = ends[1]->wait(ends[1]->receive(kA, 0), soon());
    EXPECT_EQ(message.bytes.data(), sent);
  }
  EXPECT_TRUE(watched.expired()) << "the transport must not keep what was received";
}

TEST(InProcess, AMessageThatIsThereNeedsNoTime) {
  const Endpoints ends = connect_in_process(2);
  ends[0]->send(kB, 0, make_message({}, "here"));
  EXPECT_EQ(text_of(ends[1]->wait(ends[1]->receive(kA, 0), Deadline::min())), "here");
}

TEST(InProcessDeathTest, ATicketIsUsedOnce) {
  const Endpoints ends = connect_in_process(2);
  ends[0]->send(kB, 0, make_message({}, "once"));
  const Ticket ticket = ends[1]->receive(kA, 0);
  EXPECT_EQ(text_of(ends[1]->wait(ticket, soon())), "once");
  EXPECT_DEATH((void)ends[1]->wait(ticket, soon()), "asked != asked_.end\\(\\)");
}

}  // namespace
}  // namespace pipedream::transport
