// Whole files in and out. All functions throw IoError with the path and the system's reason.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace pipedream {

// The content of a regular file or pipe; a folder is an error.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

// Writes to a temporary name beside `path`, syncs it, renames it over `path` and syncs the folder:
// whoever reads `path` sees the old content or the new, never a part, also after a crash.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace pipedream
