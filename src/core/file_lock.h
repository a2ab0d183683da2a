// A lock on a file that other processes respect, for things that must not be used by two of them.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

namespace pipedream {

// Holds the lock (flock) while it lives. The lock goes with the process that holds it, however that
// ends, so that nothing is left to clean up. The file stays, and names the process.
class FileLock {
 public:
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

  // Locks the file, which is created if it does not exist. Returns the number of the process that
  // holds the lock if another one does; it is empty if that cannot be read. Throws IoError.
  [[nodiscard]] static std::variant<FileLock, std::string> try_lock(
      const std::filesystem::path& path);

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace pipedream
