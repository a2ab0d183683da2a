// Reads and writes the profile file, which is JSON (docs/formats.md#profile), and tells it apart
// from PipeDream's graph text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "profile/profile.h"

namespace pipedream::profile {

// Parses the JSON of a profile file; `file` is only used in messages. Throws BadFile with the file
// and the place in the file if `content` is not a valid profile.
[[nodiscard]] Profile parse_profile_json(std::string_view content, const std::string& file);

// Returns the JSON of a profile file. parse_profile_json() reads it back as an equal profile.
[[nodiscard]] std::string to_json(const Profile& profile);

// Parses the JSON of a profile file or PipeDream's graph text (profile/graph_text.h). `content` is
// JSON if its first character that is not white space is '{'.
[[nodiscard]] Profile parse_profile(std::string_view content, const std::string& file);

// Reads the file at `path` and parses it like parse_profile(). Throws BadFile, or IoError if the
// file cannot be read.
[[nodiscard]] Profile read_profile(const std::filesystem::path& path);
// The same with `batch` as the samples of one minibatch, which PipeDream's graph text does not say.
// Throws CannotMeet if the profile was measured with another number.
[[nodiscard]] Profile read_profile(const std::filesystem::path& path,
                                   std::optional<std::int64_t> batch);

}  // namespace pipedream::profile
