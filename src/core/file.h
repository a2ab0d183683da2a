// Whole files in and out. All functions throw IoError with the path and the system's reason.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace pipedream {

// Whether there is anything of that name.
[[nodiscard]] bool is_there(const std::filesystem::path& path);

// The content of a regular file, or of a pipe or device up to 1 GiB; a folder is an error.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

// Writes to a temporary name beside `path`, syncs it, renames it over `path` and syncs the folder:
// whoever reads `path` sees the old content or the new, never a part, also after a crash. Links are
// followed and the permissions of a file that exists are kept. What is not a regular file (a pipe,
// a device) is written to as it is.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// Before an hour's work whose result the file is to hold: makes the folders that it lies in, and
// throws now what write_file_atomically would throw later.
void prepare_to_write(const std::filesystem::path& path);

}  // namespace pipedream
