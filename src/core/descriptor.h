// An open file of the operating system. For code that syncs files or must not follow links; all
// other code uses core/file.h.
#pragma once

#include <filesystem>
#include <string_view>

namespace pipedream {

// Throws IoError, "cannot VERB PATH: …", with the system's message for errno.
[[noreturn]] void fail_with_errno(const char* verb, const std::filesystem::path& path);

// Closes the file in its destructor.
class Descriptor {
 public:
  // Opens `path` with the flags of open(2), and new files with `mode`. Throws IoError, in which
  // `verb` says what was to be done. Messages show `named` instead of `path`:
  // for example the final name of a temporary file.
  Descriptor(const std::filesystem::path& path, int flags, const char* verb,
             std::filesystem::path named, unsigned mode = 0644);
  Descriptor(const std::filesystem::path& path, int flags, const char* verb)
      : Descriptor(path, flags, verb, path) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  // Writes all of `content`. Throws IoError.
  void write(std::string_view content) const;
  // Waits until the content of the file, or the names in the folder, are on the disk. Throws
  // IoError, in which `verb` says what was to be done.
  void sync(const char* verb = "sync") const;

 private:
  std::filesystem::path named_;
  int fd_;
};

}  // namespace pipedream
