#include "data/permutation.h"

#include <bit>

#include "core/check.h"
#include "core/philox.h"

namespace pipedream::data {
namespace {

constexpr std::int64_t kFeistelRounds =
    6;  // large sizes mix well in four rounds; small ones need more

}  // namespace

Permutation::Permutation(std::int64_t size, std::uint64_t key)
    : size_(static_cast<std::uint64_t>(size)),
      key_(key),
      half_bits_(static_cast<int>(std::bit_width(size_ - 1) + 1) / 2) {
  PD_CHECK(size > 0);
}

std::int64_t Permutation::operator()(std::int64_t place) const {
  PD_CHECK(place >= 0 && static_cast<std::uint64_t>(place) < size_);
  auto value = static_cast<std::uint64_t>(place);
  do {
    value = scrambled(value);
  } while (value >= size_);
  return static_cast<std::int64_t>(value);
}

std::uint64_t Permutation::scrambled(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_;
  std::uint64_t right = value & mask;
  for (std::int64_t round = 0; round < kFeistelRounds; ++round) {
    const std::uint64_t random =
        folded({.seed = key_, .layer = static_cast<std::int64_t>(right), .minibatch = round});
    const std::uint64_t mixed = left ^ (random & mask);
    left = right;
    right = mixed;
  }
  return left << half_bits_ | right;
}

}  // namespace pipedream::data
