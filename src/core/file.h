// Reading and writing whole files. All functions throw IoError with the path and the system's error
// message.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace pipedream {

// Returns whether anything exists at `path`.
[[nodiscard]] bool is_there(const std::filesystem::path& path);

// Returns the content of a regular file, or up to 1 GiB from a pipe or a device. A folder is an
// error.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

// Replaces the content of `path`. Readers see the old content or the new, never a part of it, even
// after a crash: the content goes to a temporary file beside `path`, which is synced and renamed
// over `path`, and then the folder is synced. Symbolic links are followed, and an existing file
// keeps its permissions. A pipe or a device is written to directly.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// If `name` is that of a temporary file which write_file_atomically() leaves behind when it is
// killed, returns the name that the file would have got.
[[nodiscard]] std::optional<std::string> name_when_finished(const std::string& name);

// To be called before a long computation whose result goes to `path`. Creates the missing folders
// of `path`, and throws now if write_file_atomically() could not create the file later.
void prepare_to_write(const std::filesystem::path& path);

}  // namespace pipedream
