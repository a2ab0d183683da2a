// Random numbers as a pure function of a key and a position (Philox 4x32-10; Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011). No state, so that dropout and initial
// weights are the same for any partition, schedule, transport and number of workers.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace pipedream {

// The generator itself: four random words for one counter and key.
[[nodiscard]] std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                  std::array<std::uint32_t, 2> key);

// Names one stream of random numbers. Two keys that differ anywhere give unrelated streams.
struct RandomKey {
  std::uint64_t seed = 0;
  std::int64_t layer = 0;
  std::int64_t minibatch = 0;
  std::int32_t microbatch = 0;
  std::int32_t draw = 0;  // counts the draws that one layer makes in one pass
};

// The key in 64 bits, for generators that take a seed.
[[nodiscard]] std::uint64_t folded(const RandomKey& key);

// Element i of each depends on (key, i) alone.
void fill_uniform(RandomKey key, std::span<float> out);  // in [0, 1), multiples of 2^-24
void fill_normal(RandomKey key, std::span<float> out);   // mean 0, variance 1

}  // namespace pipedream
