#include "core/philox.h"

#include <cmath>
#include <numbers>

namespace pipedream {
namespace {

constexpr std::uint32_t kMultiply0 = 0xD2511F53;
constexpr std::uint32_t kMultiply1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;

// Stafford's variant 13 of the 64-bit finaliser: a bijection in which every input bit reaches every
// output bit.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

struct Stream {
  std::array<std::uint32_t, 2> key;
  std::uint64_t high;  // upper half of the counter; the lower half counts blocks
};

// The key's fields are 256 bits, Philox takes 64 of key and 64 of upper counter: folded by mixing.
Stream stream_of(const RandomKey& k) {
  std::uint64_t key = mix(k.seed + 0x9E3779B97F4A7C15);
  key = mix(key ^ static_cast<std::uint64_t>(k.layer));
  std::uint64_t high = mix(key ^ static_cast<std::uint64_t>(k.minibatch) ^ 0xD1B54A32D192ED03);
  high = mix(high ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(k.microbatch)) << 32 |
                     static_cast<std::uint32_t>(k.draw)));
  return {{static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)}, high};
}

std::array<std::uint32_t, 4> block_of(const Stream& stream, std::uint64_t block) {
  return philox(
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
       static_cast<std::uint32_t>(stream.high), static_cast<std::uint32_t>(stream.high >> 32)},
      stream.key);
}

float unit_interval(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24F; }

// Box–Muller on two words: two independent normal numbers.
std::array<float, 2> normal_pair(std::uint32_t a, std::uint32_t b) {
  const float radius = std::sqrt(-2.0F * std::log(1.0F - unit_interval(a)));  // 1 − u is never 0
  const float angle = 2.0F * std::numbers::pi_v<float> * unit_interval(b);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

// Calls `to_floats` on each block and writes its four floats.
template <class ToFloats>
void fill(const RandomKey& key, std::span<float> out, ToFloats to_floats) {
  const Stream stream = stream_of(key);
  for (std::size_t i = 0; i < out.size(); i += 4) {
    const std::array<float, 4> four = to_floats(block_of(stream, i / 4));
    for (std::size_t j = 0; j < 4 && i + j < out.size(); ++j) out[i + j] = four[j];
  }
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiply0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{kMultiply1} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

std::uint64_t folded(const RandomKey& key) {
  const Stream stream = stream_of(key);
  return mix(stream.high ^ (std::uint64_t{stream.key[0]} << 32 | stream.key[1]));
}

void fill_uniform(RandomKey key, std::span<float> out) {
  fill(key, out, [](const std::array<std::uint32_t, 4>& w) {
    return std::array{unit_interval(w[0]), unit_interval(w[1]), unit_interval(w[2]),
                      unit_interval(w[3])};
  });
}

void fill_normal(RandomKey key, std::span<float> out) {
  fill(key, out, [](const std::array<std::uint32_t, 4>& w) {
    const auto first = normal_pair(w[0], w[1]);
    const auto second = normal_pair(w[2], w[3]);
    return std::array{first[0], first[1], second[0], second[1]};
  });
}

}  // namespace pipedream
