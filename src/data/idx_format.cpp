#include "data/idx_format.h"

#include "core/error.h"
#include "data/gzip.h"

namespace pipedream::data {
namespace {

constexpr std::size_t kMagicBytes = 4;
constexpr std::size_t kSideBytes = 4;
constexpr std::size_t kMostDimensions = 3;
constexpr std::size_t kLongestHead = kMagicBytes + kMostDimensions * kSideBytes;
constexpr std::uint64_t kLargest = std::uint64_t{1} << 32;  // most bytes of elements
constexpr unsigned kTypeByte = 0x08;                        // elements are unsigned bytes

[[noreturn]] void fail(const std::string& file, std::size_t place, const std::string& what) {
  throw BadFile(file + ": byte " + std::to_string(place) + ": " + what);
}

std::uint64_t byte_at(std::string_view text, std::size_t place) {
  return static_cast<unsigned char>(text[place]);
}

struct Head {
  std::vector<std::int64_t> shape;
  std::size_t head_bytes = 0;
  std::size_t data_bytes = 0;
};

std::size_t parse_dimensions(std::string_view start, const std::string& file) {
  if (start.size() < kMagicBytes)
    fail(file, start.size(), "the file ends before the 4 bytes that every IDX file begins with");
  if (byte_at(start, 0) != 0 || byte_at(start, 1) != 0)
    fail(file, 0, "an IDX file begins with two zeros: this is another kind of file");
  if (byte_at(start, 2) != kTypeByte)
    fail(file, 2,
         "wanted elements of type 8 (unsigned bytes), found type " +
             std::to_string(byte_at(start, 2)));
  const std::size_t dimensions = byte_at(start, 3);
  if (dimensions < 1 || dimensions > kMostDimensions)
    fail(file, 3, "wanted 1 to 3 dimensions, found " + std::to_string(dimensions));
  return dimensions;
}

// `start` holds the first kLongestHead bytes of the file, or all of it if it is shorter.
Head parse_head(std::string_view start, const std::string& file) {
  const std::size_t dimensions = parse_dimensions(start, file);
  Head head{.head_bytes = kMagicBytes + dimensions * kSideBytes};
  if (start.size() < head.head_bytes)
    fail(file, start.size(), "the file ends within its " + std::to_string(dimensions) + " sizes");
  std::uint64_t product = 1;
  for (std::size_t place = kMagicBytes; place < head.head_bytes; place += kSideBytes) {
    std::uint64_t side = 0;
    for (std::size_t i = 0; i < kSideBytes; ++i) side = side << 8 | byte_at(start, place + i);
    if (side > 0 && product > kLargest / side) fail(file, place, "more than 4 GiB of data");
    product *= side;
    head.shape.push_back(static_cast<std::int64_t>(side));
  }
  head.data_bytes = product;
  return head;
}

}  // namespace

IdxArray parse_idx(std::string_view content, const std::string& file) {
  const auto first_bytes = [&](std::size_t most) {
    return is_gzip(content) ? unpack_gzip(content, most, file)
                            : std::string(content.substr(0, most));
  };
  Head head = parse_head(first_bytes(kLongestHead), file);
  // One byte more than the head says shows whether the file has too many. The rest is never
  // decompressed: it might be far larger than memory.
  std::string bytes = first_bytes(head.head_bytes + head.data_bytes + 1);
  bytes.erase(0, head.head_bytes);
  if (bytes.size() != head.data_bytes)
    fail(file, head.head_bytes,
         "wanted " + std::to_string(head.data_bytes) +
             " bytes of data by the sizes before, found " +
             (bytes.size() > head.data_bytes ? "more" : std::to_string(bytes.size())));
  return {std::move(head.shape), std::move(bytes)};
}

}  // namespace pipedream::data
