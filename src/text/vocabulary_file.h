// Files of vocabularies: JSON (docs/formats.md).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "text/vocabulary.h"

namespace pipedream::text {

[[nodiscard]] std::string to_json(const Vocabulary& vocabulary);

// Parses the content of a vocabulary file. `file` is used in messages only. Throws BadFile, with
// the place, if it has unknown keys or a merge that a Vocabulary must not have.
[[nodiscard]] Vocabulary parse_vocabulary(std::string_view content, const std::string& file);

// Reads a vocabulary file. Also throws IoError if it cannot be read.
[[nodiscard]] Vocabulary read_vocabulary(const std::filesystem::path& path);

}  // namespace pipedream::text
