#include "core/fifo.h"

#include <deque>
#include <string>

#include <gtest/gtest.h>

namespace pipedream {
namespace {

std::string text_of(Fifo<char>& fifo) { return {fifo.begin(), fifo.end()}; }

Fifo<char> fifo_of(const std::string& text) {
  Fifo<char> fifo;
  for (const char entry : text) fifo.push(entry);
  return fifo;
}

TEST(Fifo, GivesEntriesBackInTheirOrder) {
  Fifo<char> fifo = fifo_of("abc");
  EXPECT_EQ(fifo.size(), 3U);
  EXPECT_EQ(fifo.front(), 'a');
  EXPECT_EQ(fifo.back(), 'c');
  EXPECT_EQ(fifo[1], 'b');
  fifo.pop();
  EXPECT_EQ(text_of(fifo), "bc");
  EXPECT_EQ(fifo[1], 'c');
  fifo.pop();
  fifo.pop();
  EXPECT_TRUE(fifo.empty());
  EXPECT_EQ(fifo.size(), 0U);
}

TEST(Fifo, TakesAnyEntryOutAndKeepsTheOrderOfTheOthers) {
  for (std::size_t i = 0; i < 5; ++i) {
    Fifo<char> fifo = fifo_of("xabcde");
    fifo.pop();
    fifo.remove(i);
    std::string wanted = "abcde";
    wanted.erase(i, 1);
    EXPECT_EQ(text_of(fifo), wanted);
  }
  Fifo<char> one = fifo_of("a");
  one.remove(0);
  EXPECT_TRUE(one.empty());
}

TEST(Fifo, TheBlockHoldsWhatIsLeftAndCanBeAppendedTo) {
  Fifo<char> fifo = fifo_of("abc");
  fifo.pop();
  EXPECT_EQ(fifo.block(), (std::vector<char>{'b', 'c'}));
  fifo.block().push_back('d');
  EXPECT_EQ(text_of(fifo), "bcd");
}

TEST(Fifo, AnEntryOfItsOwnCanBePushed) {
  Fifo<std::string> fifo;
  fifo.push(std::string(100, 'a'));
  for (int i = 0; i < 20; ++i) fifo.push(fifo.front());
  EXPECT_EQ(fifo.back(), std::string(100, 'a'));
}

// Compares Fifo with std::deque over a fixed sequence of push, pop and take.
TEST(Fifo, DoesWhatADequeDoes) {
  Fifo<int> fifo;
  std::deque<int> deque;
  unsigned state = 1;
  for (int step = 0; step < 20'000; ++step) {
    state = state * 1664525U + 1013904223U;
    const unsigned choice = (state >> 16) % (step / 1000 % 2 == 0 ? 3 : 5);
    if (deque.empty() || choice < 2) {
      fifo.push(step);
      deque.push_back(step);
    } else if (choice == 2) {
      const std::size_t i = (state >> 20) % deque.size();
      fifo.remove(i);
      deque.erase(deque.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      fifo.pop();
      deque.pop_front();
    }
    ASSERT_EQ(fifo.size(), deque.size());
    if (deque.empty()) continue;
    ASSERT_EQ(fifo.front(), deque.front());
    ASSERT_EQ(fifo.back(), deque.back());
    ASSERT_EQ(fifo[fifo.size() / 2], deque[deque.size() / 2]);
  }
  EXPECT_TRUE(std::equal(fifo.begin(), fifo.end(), deque.begin(), deque.end()));
}

TEST(Fifo, ItsBlockStaysAsSmallAsWhatItHolds) {
  Fifo<int> fifo;
  for (int i = 0; i < 3; ++i) fifo.push(i);
  for (int i = 3; i < 100'000; ++i) {
    fifo.push(i);
    fifo.pop();
  }
  EXPECT_EQ(fifo.size(), 3U);
  EXPECT_LE(fifo.block().capacity(), 16U);
}

}  // namespace
}  // namespace pipedream
