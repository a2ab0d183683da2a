// Holds every backend to the contract of transport.h. The tests of abort() are in abort_test.cpp.
#include "transport/transport.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iostream>
#include <numeric>
#include <string>

#include "transport/contract_testing.h"

namespace pipedream::transport {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

TEST_P(TransportContract, AnEndpointKnowsWhoItIs) {
  run(2, [](Transport& me) {
    const WorkerId other = me.me() == kA ? kB : kA;
    me.send(other, 0, make_message({me.me().value}, ""));
    EXPECT_EQ(next_message(me, other, 0).header, std::vector<std::int64_t>{other.value});
    EXPECT_GE(me.workers(), 2);
  });
}

TEST_P(TransportContract, HeaderAndBytesArriveAsTheyWere) {
  const std::vector<std::int64_t> header{-1, 0, INT64_MAX, INT64_MIN};
  std::string every_byte(256, '\0');
  std::iota(every_byte.begin(), every_byte.end(), '\0');
  run(2, [&](Transport& me) {
    if (me.me() == kA) {
      me.send(kB, 7, make_message(header, every_byte));
    } else {
      const Message received = next_message(me, kA, 7);
      EXPECT_EQ(received.header, header);
      EXPECT_EQ(text_of(received), every_byte);
    }
  });
}

TEST_P(TransportContract, AMessageMayBeEmpty) {
  run(2, [](Transport& me) {
    if (me.me() == kA) {
      me.send(kB, 0, make_message({3}, ""));
      me.send(kB, 0, Message{});
    } else {
      const Message without_bytes = next_message(me, kA, 0);
      EXPECT_EQ(without_bytes.header, std::vector<std::int64_t>{3});
      EXPECT_EQ(text_of(without_bytes), "");
      const Message without_anything = next_message(me, kA, 0);
      EXPECT_EQ(without_anything.header, std::vector<std::int64_t>{});
      EXPECT_EQ(text_of(without_anything), "");
    }
  });
}

// A thread acts as a device that writes the bytes after send(). Other messages may arrive earlier.
TEST_P(TransportContract, BytesMayBecomeReadyAfterTheyWereSent) {
  run(2, [](Transport& me) {
    if (me.me() == kA) {
      const auto owner = std::make_shared<std::array<char, 7>>();
      const auto ready = std::make_shared<std::atomic<bool>>(false);
      std::thread device([owner, ready] {
        std::this_thread::sleep_for(20ms);
        std::copy_n("written", owner->size(), owner->begin());
        *ready = true;
      });
      me.send(kB, 0,
              {{}, std::as_bytes(std::span(*owner)), owner, [ready] { return ready->load(); }});
      me.send(kB, 1, make_message({}, "another"));
      me.send(kB, 0, make_message({}, "the next"));
      device.join();
    } else {
      EXPECT_EQ(next_text(me, kA, 1), "another");
      const Message late = next_message(me, kA, 0);
      wait_until(late.is_ready);
      EXPECT_EQ(text_of(late), "written");
      EXPECT_EQ(next_text(me, kA, 0), "the next");
    }
  });
}

// Repeats after a prime number of bytes, so that a piece in the wrong place is noticed.
std::string long_text(std::size_t bytes) {
  std::string block(4099, '\0');
  std::iota(block.begin(), block.end(), '\0');
  std::string text;
  text.reserve(bytes + block.size());
  while (text.size() < bytes) text += block;
  text.resize(bytes);
  return text;
}

TEST_P(TransportContract, AMessageMayHaveMoreThan64MegabytesAndAnOddSize) {
  constexpr std::size_t kBytes = (65 << 20) + 1;
  run(2, [](Transport& me) {
    if (me.me() == kA) {
      me.send(kB, 0, make_message({}, long_text(kBytes)));
      me.send(kB, 0, make_message({}, "small ones do not overtake"));
    } else {
      const auto began = steady_clock::now();
      const Message received = next_message(me, kA, 0);
      std::cout << "65 MiB came after " << (steady_clock::now() - began) / 1us << " us\n";
      EXPECT_TRUE(text_of(received) == long_text(kBytes));
      EXPECT_EQ(next_text(me, kA, 0), "small ones do not overtake");
    }
  });
}

TEST_P(TransportContract, MessagesOfOneTagArriveInTheOrderOfSending) {
  constexpr int kMessages = 10'000;
  run(2, [](Transport& me) {
    if (me.me() == kA) {
      for (int i = 0; i < kMessages; ++i) me.send(kB, 0, make_message({i}, std::to_string(i)));
      return;
    }
    const auto began = steady_clock::now();
    int wrong = 0;
    for (int i = 0; i < kMessages; ++i) {
      const Message message = next_message(me, kA, 0);
      wrong +=
          message.header != std::vector<std::int64_t>{i} || text_of(message) != std::to_string(i);
    }
    EXPECT_EQ(wrong, 0);
    std::cout << kMessages << " messages came in " << (steady_clock::now() - began) / 1us
              << " us\n";
  });
}

TEST_P(TransportContract, TheOrderOfAskingCountsNotThatOfWaiting) {
  run(2, [](Transport& me) {
    if (me.me() == kA) {
      me.send(kB, 0, make_message({}, "first"));
      me.send(kB, 0, make_message({}, "second"));
    } else {
      const Ticket first = me.receive(kA, 0);
      const Ticket second = me.receive(kA, 0);
      EXPECT_EQ(text_of(me.wait(second, soon())), "second");
      EXPECT_EQ(text_of(me.wait(first, soon())), "first");
    }
  });
}

TEST_P(TransportContract, TagsAreIndependent) {
  run(2, [](Transport& me) {
    if (me.me() == kA) {
      me.send(kB, 1, make_message({}, "tag 1"));
      me.send(kB, kTagLimit - 2, make_message({}, "a high tag"));
      me.send(kB, 2, make_message({}, "tag 2"));
      me.send(kB, 2, make_message({}, "tag 2 again"));
    } else {
      EXPECT_EQ(next_text(me, kA, 2), "tag 2");
      EXPECT_EQ(next_text(me, kA, 2), "tag 2 again");
      EXPECT_EQ(next_text(me, kA, kTagLimit - 2), "a high tag");
      EXPECT_EQ(next_text(me, kA, 1), "tag 1");
    }
  });
}

TEST_P(TransportContract, PairsAreIndependentAndHaveADirection) {
  run(3, [](Transport& me) {
    if (me.me() == kA) {
      me.send(kC, 0, make_message({}, "A to C"));
      me.send(kB, 0, make_message({}, "A to B"));
      EXPECT_EQ(next_text(me, kB, 0), "B to A");
    } else if (me.me() == kB) {
      me.send(kC, 0, make_message({}, "B to C"));
      me.send(kA, 0, make_message({}, "B to A"));
      EXPECT_EQ(next_text(me, kA, 0), "A to B");
    } else {
      EXPECT_EQ(next_text(me, kB, 0), "B to C");
      EXPECT_EQ(next_text(me, kA, 0), "A to C");
    }
  });
}

TEST_P(TransportContract, OneMaySendToOneself) {
  run(2, [](Transport& me) {
    const Ticket asked = me.receive(me.me(), 0);
    me.send(me.me(), 0, make_message({1}, "note to self"));
    me.send(me.me(), 0, make_message({2}, "and another"));
    EXPECT_EQ(text_of(me.wait(asked, soon())), "note to self");
    EXPECT_EQ(next_text(me, me.me(), 0), "and another");
  });
}

TEST_P(TransportContract, OneMayAskBeforeTheMessageIsSent) {
  run(2, [](Transport& me) {
    if (me.me() == kA) {
      // B calls receive() for the answer before it sends the question, which A waits for here.
      const std::string question = next_text(me, kB, 0);
      me.send(kB, 0, make_message({}, question + "!"));
    } else {
      const Ticket asked = me.receive(kA, 0);
      me.send(kA, 0, make_message({}, "are you there"));
      EXPECT_EQ(text_of(me.wait(asked, soon())), "are you there!");
    }
  });
}

TEST_P(TransportContract, OneMayAskAfterTheMessageIsSent) {
  run(2, [](Transport& me) {
    if (me.me() == kA) {
      me.send(kB, 0, make_message({}, "already here"));
      me.send(kB, 1, make_message({}, "sent after it"));
    } else {
      EXPECT_EQ(next_text(me, kA, 1), "sent after it");
      EXPECT_EQ(next_text(me, kA, 0), "already here");
    }
  });
}

TEST_P(TransportContract, AWaitPastItsDeadlineNamesThePeer) {
  run(3, [](Transport& me) {
    if (me.me() != kC) {
      const bool first = me.me() == kA;
      me.send(kC, first ? 1 : 0, make_message({}, first ? "another tag" : "another peer"));
      return;
    }
    EXPECT_EQ(next_text(me, kA, 1), "another tag");
    const Ticket ticket = me.receive(kA, 0);
    EXPECT_EQ(message_of<WorkerLost>([&] { (void)me.wait(ticket, steady_clock::now() + 50ms); }),
              "worker 0 sent nothing before the deadline");
    EXPECT_EQ(next_text(me, kB, 0), "another peer");
  });
}

TEST_P(TransportContract, OfSeveralTheOneThatComesFirstIsHandedOver) {
  run(3, [](Transport& me) {
    if (me.me() == kA) {
      std::vector<Ticket> tickets{me.receive(kB, 0), me.receive(kC, 0)};
      Arrival first = me.wait_any(tickets, soon());
      EXPECT_EQ(first.ticket, 1u);
      EXPECT_EQ(text_of(first.message), "from C");
      tickets[1] = me.receive(kC, 0);
      me.send(kB, 1, make_message({}, "go on"));
      EXPECT_EQ(text_of(me.wait_any(tickets, soon()).message), "from B");
      EXPECT_EQ(message_of<WorkerLost>([&] {
                  (void)me.wait_any({&tickets[1], 1}, std::chrono::steady_clock::now() + 20ms);
                }),
                "worker 2 sent nothing before the deadline");
      me.send(kC, 1, make_message({}, "go on"));
      EXPECT_EQ(text_of(me.wait(tickets[1], soon())), "again from C") << "the ticket is still good";
    } else {
      const bool is_late = me.me() == kB;
      EXPECT_EQ(is_late ? next_text(me, kA, 1) : "", is_late ? "go on" : "");
      me.send(kA, 0, make_message({}, is_late ? "from B" : "from C"));
      if (is_late) return;
      EXPECT_EQ(next_text(me, kA, 1), "go on");
      me.send(kA, 0, make_message({}, "again from C"));
    }
  });
}

TEST_P(TransportContract, WhoWaitsForSeveralIsToldOfAllThatSentNothing) {
  run(3, [](Transport& me) {
    if (me.me() != kA) return;
    const std::vector<Ticket> tickets{me.receive(kC, 0), me.receive(kB, 0), me.receive(kC, 5)};
    EXPECT_EQ(message_of<WorkerLost>(
                  [&] { (void)me.wait_any(tickets, std::chrono::steady_clock::now() + 20ms); }),
              "workers 1, 2 sent nothing before the deadline");
  });
}

TEST_P(TransportContract, AMessageOutlivesTheEndpointAndTheOwnerOfItsSender) {
  run_with_channels(2, 2, [](Endpoints& mine) {
    Transport& other_channel = *mine[1];
    if (other_channel.me() == kA) {
      mine[0]->send(kB, 0, make_message({5}, "from beyond"));
      mine[0].reset();
      other_channel.send(kB, 0, make_message({}, "gone"));
    } else {
      EXPECT_EQ(next_text(other_channel, kA, 0), "gone");
      const Message message = next_message(*mine[0], kA, 0);
      mine[0].reset();
      EXPECT_EQ(message.header, std::vector<std::int64_t>{5});
      EXPECT_EQ(text_of(message), "from beyond");
    }
  });
}

TEST_P(TransportContract, AllWorkersMayTalkToAllAtOnce) {
  constexpr int kMessages = 200, kTags = 3;
  const int workers = std::min(8, GetParam().most_workers);
  const auto text = [](int from, int to, int number) {
    return std::to_string(from) + ">" + std::to_string(to) + "#" + std::to_string(number);
  };
  run(workers, [&](Transport& end) {
    const int me = end.me().value;
    std::vector<std::string> received, wanted;
    for (int number = 0; number < kMessages; ++number) {
      for (int to = 0; to < workers; ++to)
        end.send(WorkerId{to}, number % kTags, make_message({}, text(me, to, number)));
      for (int from = 0; from < workers; ++from) {
        received.push_back(next_text(end, WorkerId{from}, number % kTags));
        wanted.push_back(text(from, me, number));
      }
    }
    EXPECT_EQ(received, wanted);
  });
}

}  // namespace
}  // namespace pipedream::transport
