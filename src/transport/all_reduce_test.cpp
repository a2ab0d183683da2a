#include "transport/all_reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "transport/all_reduce_testing.h"
#include "transport/contract_testing.h"
#include "transport/emulated.h"
#include "transport/in_process.h"
#include "transport/sums.h"

namespace pipedream::transport {
namespace {

using namespace std::chrono_literals;

// Values of very different magnitude, so that a wrong order of summation gives different bits.
std::vector<float> values_of(std::size_t member, std::size_t count) {
  std::vector<float> values(count);
  std::uint32_t state = 12345U + 977U * static_cast<std::uint32_t>(member);
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    const auto mantissa = static_cast<float>(state >> 8) / 16777216.0F - 0.5F;
    value = std::ldexp(mantissa, static_cast<int>(state % 25U));
  }
  return values;
}

std::vector<std::vector<float>> values_of_all(std::size_t members, std::size_t count) {
  std::vector<std::vector<float>> values;
  for (std::size_t member = 0; member < members; ++member)
    values.push_back(values_of(member, count));
  return values;
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits(values.size());
  if (!bits.empty()) std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

std::vector<WorkerId> first_workers(int count) {
  std::vector<WorkerId> workers;
  for (int worker = 0; worker < count; ++worker) workers.push_back(WorkerId{worker});
  return workers;
}

TEST(RingOrder, IsTheOneOfTheHeader) {
  // The sum of chunk c starts at member c. 2^24 + 1 rounds to 2^24, but 2^24 + (1 + 1) is exact.
  constexpr float kBig = 16777216.0F;
  EXPECT_EQ(ring_order_sum({{kBig, 1, 1}, {1, kBig, 1}, {1, 1, kBig}}),
            (std::vector<float>{kBig, kBig, kBig}));
  EXPECT_EQ(ring_order_sum({{1, 1, kBig}, {1, kBig, 1}, {kBig, 1, 1}}),
            (std::vector<float>{kBig + 2, kBig, kBig}));
}

constexpr std::array kExchanges{Exchange::kRing, Exchange::kAllToAll, Exchange::kParameterServer};

// The values of each member, and for each exchange the bits of their sums. Computed once, not by
// each worker.
struct Example {
  std::vector<std::vector<float>> given;
  std::vector<std::vector<std::uint32_t>> wanted;
};

Example example_of(int members, std::size_t size) {
  Example example{values_of_all(static_cast<std::size_t>(members), size), {}};
  for (const Exchange exchange : kExchanges)
    example.wanted.push_back(bits_of(ordered_sum(example.given, exchange)));
  return example;
}

// all_reduce() of values in memory that has an owner, so that other members may read it.
Summed reduce_readable(Transport& me, const std::vector<WorkerId>& members, int tag,
                       std::vector<float>& values, Way way) {
  way.reads_memory = true;
  const auto owned = std::make_shared<std::vector<float>>(values);
  const Summed summed = all_reduce(me, members, tag, *owned, way, soon(), owned);
  values = *owned;
  return summed;
}

void expect_the_sums(const Example& example, Transport& me) {
  const auto members = first_workers(static_cast<int>(example.given.size()));
  const std::vector<float>& given = example.given[me.me().index()];
  for (std::size_t e = 0; e < kExchanges.size(); ++e) {
    std::vector<float> values = given, readable = given;
    (void)all_reduce(me, members, 3, values, {kExchanges[e], {}}, soon());
    EXPECT_EQ(bits_of(values), example.wanted[e])
        << members.size() << " members, " << values.size() << " values";
    (void)reduce_readable(me, members, 3, readable, {kExchanges[e], {}});
    EXPECT_EQ(bits_of(readable), example.wanted[e])
        << members.size() << " members that read, " << values.size() << " values";
  }
}

TEST_P(SumContract, SumsInTheStatedOrderForTwoToFiveMembersAndOddSizes) {
  for (int count = 2; count <= std::min(5, GetParam().most_workers); ++count) {
    std::vector<Example> examples;
    for (const std::size_t size : {0U, 1U, 2U, 3U, 4U, 7U, 64U, 1001U, 20'011U})
      examples.push_back(example_of(count, size));
    run(count, [&](Transport& me) {
      for (const Example& example : examples) expect_the_sums(example, me);
    });
  }
}

TEST_P(SumContract, PiecesOfLongValuesFindTheirPlace) {
  static const Example example = example_of(2, 2 * kPieceFloats + 17);  // a chunk has two pieces
  run(2, [&](Transport& me) { expect_the_sums(example, me); });
}

// Whatever the way, all r members together send 2 (r − 1) times the bytes of the values.
TEST_P(SumContract, TellsWhatItSent) {
  const int count = std::min(4, GetParam().most_workers);
  run(count, [&](Transport& me) {
    const std::vector<WorkerId> members = first_workers(count);
    const auto hosts = count == 4 ? std::vector<int>{0, 0, 1, 1} : std::vector<int>{};
    for (const Way& way :
         {Way{Exchange::kRing, {}}, Way{Exchange::kAllToAll, {}}, Way{Exchange::kRing, hosts}}) {
      constexpr std::size_t kSize = 1003;
      std::vector<float> values(kSize);
      for (const Summed& mine : {all_reduce(me, members, 0, values, way, soon()),
                                 reduce_readable(me, members, 0, values, way)}) {
        std::vector<float> sent{static_cast<float>(mine.sent.count)};
        all_reduce(me, members, 1, sent, {}, soon());
        EXPECT_EQ(sent[0], 2.0F * static_cast<float>(count - 1) * kSize * sizeof(float));
      }
    }
  });
}

TEST_P(SumContract, ARingOverHostsHasTwoLevels) {
  if (GetParam().most_workers < 4) GTEST_SKIP() << "too few workers";
  run(4, [](Transport& me) {
    const std::vector<WorkerId> members = first_workers(4);
    const Way way{Exchange::kRing, {7, 3, 7, 3}};
    for (const std::size_t size : {0U, 1U, 5U, 1001U}) {
      std::vector<float> values = values_of(me.me().index(), size), readable = values;
      all_reduce(me, members, 3, values, way, soon());
      const auto all = values_of_all(4, size);
      const auto wanted = bits_of(two_ring_order_sum({{all[0], all[2]}, {all[1], all[3]}}));
      EXPECT_EQ(bits_of(values), wanted);
      reduce_readable(me, members, 3, readable, way);
      EXPECT_EQ(bits_of(readable), wanted);
    }
  });
}

TEST_P(SumContract, OnlyARingHasTwoLevels) {
  run(4, [](Transport& me) {
    for (const Exchange exchange : {Exchange::kAllToAll, Exchange::kParameterServer}) {
      std::vector<float> values = values_of(me.me().index(), 1001);
      all_reduce(me, first_workers(4), 0, values, {exchange, {0, 0, 1, 1}}, soon());
      EXPECT_EQ(bits_of(values), bits_of(ordered_sum(values_of_all(4, 1001), exchange)));
    }
  });
}

TEST_P(SumContract, MembersMayBeSomeWorkersInAnyOrder) {
  run(3, [](Transport& me) {
    if (me.me() == kB) return;
    const std::vector<WorkerId> members{kC, kA};
    for (const Exchange exchange : kExchanges) {
      std::vector<float> values = values_of(me.me() == kC ? 0 : 1, 11);
      all_reduce(me, members, 0, values, {exchange, {}}, soon());
      EXPECT_EQ(bits_of(values), bits_of(ordered_sum(values_of_all(2, 11), exchange)));
    }
  });
}

TEST_P(SumContract, AloneThereIsNothingToDo) {
  run(2, [](Transport& me) {
    std::vector<float> values{1, 2, 3};
    const std::vector<WorkerId> members{me.me()};
    const Summed summed = all_reduce(me, members, 0, values, {}, Deadline::min());
    EXPECT_EQ(summed.waited, Nanos{0});
    EXPECT_EQ(summed.sent, Bytes{0});
    EXPECT_EQ(values, (std::vector<float>{1, 2, 3}));
  });
}

TEST_P(SumContract, AMissingMemberIsNamed) {
  run(2, [](Transport& me) {
    if (me.me() == kB) return;
    const std::vector<WorkerId> members{kA, kB};
    for (const Exchange exchange : kExchanges) {
      std::vector<float> values{1, 2, 3};
      EXPECT_EQ(message_of<WorkerLost>([&] {
                  all_reduce(me, members, 0, values, {exchange, {}},
                             std::chrono::steady_clock::now() + 50ms);
                }),
                "worker 1 sent nothing before the deadline");
    }
  });
}

TEST_P(SumContract, TellsHowLongItWaitedForTheMemberBefore) {
  run(2, [](Transport& me) {
    std::vector<float> values{1, 2, 3};
    const std::vector<WorkerId> members{kA, kB};
    if (me.me() == kB) {
      EXPECT_EQ(next_text(me, kA, 1), "nearly there");
      std::this_thread::sleep_for(200ms);
    } else {
      me.send(kB, 1, make_message({}, "nearly there"));
    }
    const Nanos waited = all_reduce(me, members, 0, values, {}, soon()).waited;
    if (me.me() == kA) {
      EXPECT_GE(waited, 10ms) << "of 200 ms, less what we were late ourselves";
    }
  });
}

// Members that begin together report that they waited for values on slow links, not for each other.
TEST(SumsOnSlowLinks, WaitsForValuesAreNotWaitsForOthers) {
  for (const Exchange exchange : kExchanges) {
    const auto slow = std::make_shared<LinkQueues>(Links{.bytes_per_second = 1e6}, 2);
    const Endpoints ends = connect_emulated(connect_in_process(2), slow);
    std::vector<std::jthread> threads;
    for (const auto& end : ends)
      threads.emplace_back([&] {
        const std::vector<WorkerId> members = first_workers(2);
        std::vector<float> nothing(1), values(100'000);  // half of these takes 200 ms
        all_reduce(*end, members, 0, nothing, {}, soon());
        const auto began = std::chrono::steady_clock::now();
        const Summed summed = all_reduce(*end, members, 1, values, {exchange, {}}, soon());
        const Nanos took = std::chrono::steady_clock::now() - began;
        EXPECT_GE(took, 400ms);
        EXPECT_LT(summed.waited, took / 4);
      });
  }
}

}  // namespace
}  // namespace pipedream::transport
