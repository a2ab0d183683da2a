// Random numbers as a pure function of a key and a position (Philox 4x32-10; Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011). There is no generator state, so dropout
// and initial weights are the same for any partition, schedule, transport and number of workers.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace pipedream {

// The generator itself: returns four random words for one counter and one key.
[[nodiscard]] std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                  std::array<std::uint32_t, 2> key);

// Names one stream of random numbers. Keys that differ in any field give unrelated streams.
struct RandomKey {
  std::uint64_t seed = 0;
  std::int64_t layer = 0;
  std::int64_t minibatch = 0;
  std::int32_t microbatch = 0;
  std::int32_t draw = 0;  // number of the draw within one pass of one layer
};

// Returns a 64-bit hash of the key, for generators that take a seed.
[[nodiscard]] std::uint64_t folded(const RandomKey& key);

// Fill `out` with random numbers. Element i depends on `key` and i alone.
void fill_uniform(RandomKey key, std::span<float> out);  // in [0, 1), multiples of 2^-24
void fill_normal(RandomKey key, std::span<float> out);   // mean 0, variance 1

}  // namespace pipedream
