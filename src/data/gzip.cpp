#include "data/gzip.h"

#include <algorithm>
#include <array>
#include <new>

#include <zlib.h>

#include "core/error.h"

namespace pipedream::data {
namespace {

constexpr int kOnlyGzip = 16;  // added to the window bits: inflateInit2 then takes gzip alone

// A decompression that is under way. `content` must outlive it.
class Inflation {
 public:
  explicit Inflation(std::string_view content) {
    // zlib's interface takes a pointer to non-const bytes, but zlib only reads them.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream_.avail_in = static_cast<uInt>(content.size());
    if (::inflateInit2(&stream_, MAX_WBITS + kOnlyGzip) != Z_OK) throw std::bad_alloc();
  }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;
  ~Inflation() { ::inflateEnd(&stream_); }

  // Appends decompressed bytes to `out`: at most `most`, and at most 64 KiB. Returns the result
  // code of zlib's inflate().
  int append(std::string& out, std::size_t most) {
    std::array<Bytef, 1 << 16> piece;
    const std::size_t room = std::min(most, piece.size());
    stream_.next_out = piece.data();
    stream_.avail_out = static_cast<uInt>(room);
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    out.append(reinterpret_cast<const char*>(piece.data()), room - stream_.avail_out);
    return result;
  }

  // Compressed bytes that have not been read yet.
  [[nodiscard]] std::size_t left() const { return stream_.avail_in; }

 private:
  z_stream stream_{};
};

}  // namespace

bool is_gzip(std::string_view content) { return content.starts_with("\x1f\x8b"); }

std::string unpack_gzip(std::string_view content, std::size_t most, const std::string& file) {
  constexpr std::size_t kLargestPacked = 0xFFFFFFFF;  // zlib counts input bytes in 32 bits
  if (content.size() > kLargestPacked)
    throw BadFile(file + ": compressed to more than 4 GiB: unpack it");
  Inflation inflation(content);
  std::string out;
  while (out.size() < most) {
    const int result = inflation.append(out, most - out.size());
    const std::string place = file + ": byte " + std::to_string(content.size() - inflation.left());
    if (result == Z_STREAM_END) {
      if (inflation.left() > 0) throw BadFile(place + ": more after the end of the packed data");
      break;
    }
    if (result == Z_BUF_ERROR) throw BadFile(place + ": the packed data is cut short");
    if (result != Z_OK) throw BadFile(place + ": the packed data is damaged");
  }
  return out;
}

}  // namespace pipedream::data
