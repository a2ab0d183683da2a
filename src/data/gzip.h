// Decompresses gzip data, using no more memory than the caller asks for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pipedream::data {

// Whether `content` begins as gzip files do.
[[nodiscard]] bool is_gzip(std::string_view content);

// Returns the first `most` bytes of the decompressed `content`, or all of them if there are fewer.
// `file` is used in messages only. Throws BadFile if `content` is larger than 4 GiB, damaged, cut
// short or followed by other data; the last three are found only in the part that is read.
[[nodiscard]] std::string unpack_gzip(std::string_view content, std::size_t most,
                                      const std::string& file);

}  // namespace pipedream::data
