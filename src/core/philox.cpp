#include "core/philox.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pipedream {
namespace {

constexpr std::uint32_t kMultiply0 = 0xD2511F53;
constexpr std::uint32_t kMultiply1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;

// Stafford's variant 13 of MurmurHash3's 64-bit finaliser: a bijection in which every input bit
// affects every output bit.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

struct Stream {
  std::array<std::uint32_t, 2> key;
  std::uint64_t high;  // upper half of the counter; the lower half counts blocks
};

// Hashes the 256 bits of a RandomKey into the 128 bits that Philox has for them: 64 bits of key and
// the upper 64 bits of the counter.
Stream stream_of(const RandomKey& k) {
  std::uint64_t key = mix(k.seed + 0x9E3779B97F4A7C15);
  key = mix(key ^ static_cast<std::uint64_t>(k.layer));
  std::uint64_t high = mix(key ^ static_cast<std::uint64_t>(k.minibatch) ^ 0xD1B54A32D192ED03);
  high = mix(high ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(k.microbatch)) << 32 |
                     static_cast<std::uint32_t>(k.draw)));
  return {{static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)}, high};
}

float unit_interval(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24F; }

// Returns two independent normally distributed numbers for two random words (Box–Muller).
std::array<float, 2> normal_pair(std::uint32_t a, std::uint32_t b) {
  const float radius = std::sqrt(-2.0F * std::log(1.0F - unit_interval(a)));  // 1 − u is never 0
  const float angle = 2.0F * std::numbers::pi_v<float> * unit_interval(b);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

// The ten rounds of Philox on `kLanes` counters at once. The loops over arrays of fixed length let
// the compiler use vector instructions.
constexpr std::size_t kLanes = 32;
using Lanes = std::array<std::uint32_t, kLanes>;

void philox_lanes(std::array<Lanes, 4>& counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      const std::uint64_t product0 = std::uint64_t{kMultiply0} * counter[0][i];
      const std::uint64_t product1 = std::uint64_t{kMultiply1} * counter[2][i];
      const std::uint32_t next0 =
          static_cast<std::uint32_t>(product1 >> 32) ^ counter[1][i] ^ key[0];
      const std::uint32_t next2 =
          static_cast<std::uint32_t>(product0 >> 32) ^ counter[3][i] ^ key[1];
      counter[0][i] = next0;
      counter[1][i] = static_cast<std::uint32_t>(product1);
      counter[2][i] = next2;
      counter[3][i] = static_cast<std::uint32_t>(product0);
    }
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
}

// Returns the random words of blocks `first` … `first + kLanes − 1`. Word w of block `first + i` is
// at [w][i].
std::array<Lanes, 4> blocks_of(const Stream& stream, std::uint64_t first) {
  std::array<Lanes, 4> counter;
  for (std::size_t i = 0; i < kLanes; ++i) {
    counter[0][i] = static_cast<std::uint32_t>(first + i);
    counter[1][i] = static_cast<std::uint32_t>((first + i) >> 32);
    counter[2][i] = static_cast<std::uint32_t>(stream.high);
    counter[3][i] = static_cast<std::uint32_t>(stream.high >> 32);
  }
  philox_lanes(counter, stream.key);
  return counter;
}

// Fills `out`. `to_floats` converts the words of `kLanes` blocks into 4·`kLanes` floats, four
// consecutive floats per block.
template <class ToFloats>
void fill(const RandomKey& key, std::span<float> out, ToFloats to_floats) {
  constexpr std::size_t kPiece = 4 * kLanes;
  const Stream stream = stream_of(key);
  std::array<float, kPiece> piece;
  for (std::size_t begin = 0; begin < out.size(); begin += kPiece) {
    to_floats(blocks_of(stream, begin / 4), piece);
    const std::size_t count = std::min(kPiece, out.size() - begin);
    std::copy_n(piece.begin(), count, out.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  std::array<Lanes, 4> lanes{};
  for (std::size_t w = 0; w < 4; ++w) lanes[w][0] = counter[w];
  philox_lanes(lanes, key);
  return {lanes[0][0], lanes[1][0], lanes[2][0], lanes[3][0]};
}

std::uint64_t folded(const RandomKey& key) {
  const Stream stream = stream_of(key);
  return mix(stream.high ^ (std::uint64_t{stream.key[0]} << 32 | stream.key[1]));
}

void fill_uniform(RandomKey key, std::span<float> out) {
  fill(key, out, [](const std::array<Lanes, 4>& words, auto& piece) {
    for (std::size_t i = 0; i < kLanes; ++i)
      for (std::size_t w = 0; w < 4; ++w) piece[4 * i + w] = unit_interval(words[w][i]);
  });
}

void fill_normal(RandomKey key, std::span<float> out) {
  fill(key, out, [](const std::array<Lanes, 4>& words, auto& piece) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      for (std::size_t w = 0; w < 4; w += 2) {
        const auto pair = normal_pair(words[w][i], words[w + 1][i]);
        piece[4 * i + w] = pair[0];
        piece[4 * i + w + 1] = pair[1];
      }
    }
  });
}

}  // namespace pipedream
