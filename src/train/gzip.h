// Reading what gzip packed, without more memory than the reader asks for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pipedream::train {

[[nodiscard]] bool is_gzip(std::string_view content);

// The first `most` bytes, or all if they are fewer, of what `content` was packed from; `file` is
// only named in messages. Throws BadFile for data that is damaged, cut short or followed by more,
// as far as it had to be read.
[[nodiscard]] std::string unpack_gzip(std::string_view content, std::size_t most,
                                      const std::string& file);

}  // namespace pipedream::train
