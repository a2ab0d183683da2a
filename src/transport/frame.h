// How a message is announced between processes: a frame of 64-bit numbers goes before its bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pipedream::transport {

struct Frame {
  std::int32_t channel = 0;
  std::int32_t tag = 0;
  std::uint64_t number = 0;  // of that tag between these two, from 0
  std::uint64_t bytes = 0;   // of the payload that follows
  std::vector<std::int64_t> header;

  friend bool operator==(const Frame&, const Frame&) = default;
};

[[nodiscard]] std::vector<std::int64_t> pack(const Frame& frame);

// Only for what pack() made.
[[nodiscard]] Frame unpack(std::span<const std::int64_t> words);

}  // namespace pipedream::transport
