// How a message is announced between processes: a frame of 64-bit numbers goes before its payload.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pipedream::transport {

struct Frame {
  std::int32_t channel = 0;  // by_lanes.cpp stores the kind of a note here
  std::int32_t tag = 0;
  std::uint64_t number = 0;          // counts messages of this tag from sender to receiver, from 0
  std::uint64_t bytes = 0;           // size of the payload that follows
  std::vector<std::int64_t> header;  // Message::header

  friend bool operator==(const Frame&, const Frame&) = default;
};

[[nodiscard]] std::vector<std::int64_t> pack(const Frame& frame);

// The inverse of pack(). Requires words that pack() returned.
[[nodiscard]] Frame unpack(std::span<const std::int64_t> words);

}  // namespace pipedream::transport
