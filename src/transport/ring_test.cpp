#include "transport/ring.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "transport/contract_testing.h"
#include "transport/ring_testing.h"

namespace pipedream::transport {
namespace {

using namespace std::chrono_literals;

// Values of very different size, so that every other order of summation gives other bits.
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
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

std::vector<WorkerId> first_workers(int count) {
  std::vector<WorkerId> workers;
  for (int worker = 0; worker < count; ++worker) workers.push_back(WorkerId{worker});
  return workers;
}

TEST(RingOrder, IsTheOneOfTheHeader) {
  // Each chunk starts at the member of its number; 1 is lost beside 2^24 unless 1 + 1 comes first.
  constexpr float kBig = 16777216.0F;
  EXPECT_EQ(ring_order_sum({{kBig, 1, 1}, {1, kBig, 1}, {1, 1, kBig}}),
            (std::vector<float>{kBig, kBig, kBig}));
  EXPECT_EQ(ring_order_sum({{1, 1, kBig}, {1, kBig, 1}, {kBig, 1, 1}}),
            (std::vector<float>{kBig + 2, kBig, kBig}));
}

TEST_P(RingContract, SumsInTheStatedOrderForTwoToFiveMembersAndOddSizes) {
  for (int count = 2; count <= std::min(5, GetParam().most_workers); ++count) {
    run(count, [&](Transport& me) {
      const std::vector<WorkerId> members = first_workers(count);
      for (const std::size_t size : {0U, 1U, 2U, 3U, 4U, 7U, 64U, 1001U, 100'003U}) {
        std::vector<float> values = values_of(me.me().index(), size);
        const Nanos waited = ring_all_reduce(me, members, 3, values, soon());
        EXPECT_GE(waited, Nanos{0});
        EXPECT_EQ(bits_of(values), bits_of(ring_order_sum(values_of_all(members.size(), size))))
            << count << " members, " << size << " values";
      }
    });
  }
}

TEST_P(RingContract, MembersMayBeSomeWorkersInAnyOrder) {
  run(3, [](Transport& me) {
    if (me.me() == kB) return;
    const std::vector<WorkerId> members{kC, kA};
    std::vector<float> values = values_of(me.me() == kC ? 0 : 1, 11);
    ring_all_reduce(me, members, 0, values, soon());
    EXPECT_EQ(bits_of(values), bits_of(ring_order_sum(values_of_all(2, 11))));
  });
}

TEST_P(RingContract, AloneThereIsNothingToDo) {
  run(2, [](Transport& me) {
    std::vector<float> values{1, 2, 3};
    const std::vector<WorkerId> members{me.me()};
    EXPECT_EQ(ring_all_reduce(me, members, 0, values, Deadline::min()), Nanos{0});
    EXPECT_EQ(values, (std::vector<float>{1, 2, 3}));
  });
}

TEST_P(RingContract, AMissingMemberIsNamed) {
  run(2, [](Transport& me) {
    if (me.me() == kB) return;
    std::vector<float> values{1, 2, 3};
    const std::vector<WorkerId> members{kA, kB};
    EXPECT_EQ(message_of<WorkerLost>([&] {
                ring_all_reduce(me, members, 0, values, std::chrono::steady_clock::now() + 50ms);
              }),
              "worker 1 sent nothing before the deadline");
  });
}

TEST_P(RingContract, TellsHowLongItWaitedForTheMemberBefore) {
  run(2, [](Transport& me) {
    std::vector<float> values{1, 2, 3};
    const std::vector<WorkerId> members{kA, kB};
    if (me.me() == kB) {
      EXPECT_EQ(next_text(me, kA, 1), "nearly there");
      std::this_thread::sleep_for(200ms);
    } else {
      me.send(kB, 1, make_message({}, "nearly there"));
    }
    const Nanos waited = ring_all_reduce(me, members, 0, values, soon());
    if (me.me() == kA) {
      EXPECT_GE(waited, 10ms) << "of 200 ms, less what we were late ourselves";
    }
  });
}

}  // namespace
}  // namespace pipedream::transport
