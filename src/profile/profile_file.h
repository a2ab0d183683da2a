// The profile file (JSON; docs/formats.md#profile), and the choice between it and PipeDream's text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "profile/profile.h"

namespace pipedream::profile {

// Reads our JSON. Throws BadFile with file and place for anything else.
[[nodiscard]] Profile parse_profile_json(std::string_view content, const std::string& file);

// What parse_profile_json reads back as the same value.
[[nodiscard]] std::string to_json(const Profile& profile);

// Either format, told apart by the first character that is not white space: JSON begins with '{'.
[[nodiscard]] Profile parse_profile(std::string_view content, const std::string& file);

// The same from a file; also throws IoError.
[[nodiscard]] Profile read_profile(const std::filesystem::path& path);

}  // namespace pipedream::profile
