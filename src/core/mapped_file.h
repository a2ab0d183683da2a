// A file that is read through the memory of the process. The system loads the parts that are used,
// when they are used, and no copy is made.
#pragma once

#include <filesystem>
#include <string_view>

namespace pipedream {

// Safe to read from several threads. If another program shortens the file meanwhile, reading the
// part that is gone ends the process (SIGBUS), as with all mapped files.
class MappedFile {
 public:
  // Throws IoError if the file cannot be read, or is no regular file.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::string_view content() const { return content_; }

 private:
  std::string_view content_;
};

}  // namespace pipedream
