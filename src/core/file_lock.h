// A lock between processes, for things that only one process at a time may use.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <variant>

namespace pipedream {

// Holds the lock (flock) on a file while it lives. The operating system releases the lock when the
// process ends, even after a crash. The file itself is never removed; it has the holder's process
// id as text.
class FileLock {
 public:
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileLock();

  // Locks the file, which is created if it does not exist. If it is locked already, returns the
  // process id of the holder as text, empty if it cannot be read. Throws IoError if the file cannot
  // be opened or locked for another reason.
  [[nodiscard]] static std::variant<FileLock, std::string> try_lock(
      const std::filesystem::path& path);

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace pipedream
