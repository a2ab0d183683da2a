#include "transport/frame.h"

#include "core/check.h"

namespace pipedream::transport {
namespace {
constexpr std::size_t kFixedWords = 4;
}

std::vector<std::int64_t> pack(const Frame& frame) {
  std::vector<std::int64_t> words{frame.channel, frame.tag, static_cast<std::int64_t>(frame.number),
                                  static_cast<std::int64_t>(frame.bytes)};
  words.insert(words.end(), frame.header.begin(), frame.header.end());
  return words;
}

Frame unpack(std::span<const std::int64_t> words) {
  PD_CHECK(words.size() >= kFixedWords);
  const auto header = words.subspan(kFixedWords);
  return {.channel = static_cast<std::int32_t>(words[0]),
          .tag = static_cast<std::int32_t>(words[1]),
          .number = static_cast<std::uint64_t>(words[2]),
          .bytes = static_cast<std::uint64_t>(words[3]),
          .header = {header.begin(), header.end()}};
}

}  // namespace pipedream::transport
