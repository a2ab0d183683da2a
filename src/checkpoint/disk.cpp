#include "checkpoint/disk.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"

namespace pipedream::checkpoint {
namespace {

[[noreturn]] void fail(const char* verb, const std::filesystem::path& path) {
  throw IoError("cannot " + std::string(verb) + " " + path.string() + ": " + std::strerror(errno));
}

// An open file, which the destructor closes.
class Opened {
 public:
  Opened(const std::filesystem::path& path, int flags, const char* verb)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (fd_ < 0) fail(verb, path);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { ::close(fd_); }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

class RealDisk final : public Disk {
 public:
  void make_folder(const std::filesystem::path& folder) override {
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) fail("make the folder", folder);
  }

  void write(const std::filesystem::path& file, std::span<const std::string_view> pieces) override {
    const Opened opened(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, "write");
    for (std::string_view piece : pieces)
      while (!piece.empty()) {
        const ssize_t written = ::write(opened.fd(), piece.data(), piece.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail("write", file);
        piece.remove_prefix(static_cast<std::size_t>(written));
      }
  }

  void sync_file(const std::filesystem::path& file) override { sync(file, O_RDONLY | O_NOFOLLOW); }
  void sync_folder(const std::filesystem::path& folder) override {
    sync(folder, O_RDONLY | O_DIRECTORY);
  }

  void rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) fail("rename", from);
  }

  void remove(const std::filesystem::path& path) override {
    if (::remove(path.c_str()) != 0) fail("remove", path);
  }

 private:
  static void sync(const std::filesystem::path& path, int flags) {
    const Opened opened(path, flags, "sync");
    if (::fsync(opened.fd()) != 0) fail("sync", path);
  }
};

}  // namespace

Disk& real_disk() {
  static RealDisk disk;
  return disk;
}

}  // namespace pipedream::checkpoint
