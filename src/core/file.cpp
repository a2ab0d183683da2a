#include "core/file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"

namespace pipedream {
namespace {

[[noreturn]] void fail(const char* verb, const std::filesystem::path& path) {
  throw IoError("cannot " + std::string(verb) + " " + path.string() + ": " + std::strerror(errno));
}

// Closes on every way out.
struct Descriptor {
  int fd;
  explicit Descriptor(int opened) : fd(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

// Removes a half-written temporary file unless it was renamed away.
struct Temporary {
  std::filesystem::path path;
  bool keep = false;
  ~Temporary() {
    if (!keep) ::unlink(path.c_str());
  }
};

void write_all(int fd, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

void sync_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.fd < 0 || ::fsync(opened.fd) != 0) fail("sync the folder of", path);
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  const Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened.fd < 0) fail("read", path);
  std::string content;
  struct stat info {};
  if (::fstat(opened.fd, &info) == 0 && info.st_size > 0)
    content.reserve(static_cast<std::size_t>(info.st_size));
  char piece[1 << 16];
  while (true) {
    const ssize_t got = ::read(opened.fd, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path);
    if (got == 0) return content;
    content.append(piece, static_cast<std::size_t>(got));
  }
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  // The thread's number, so that two threads that write the same file do not share a temporary.
  Temporary temporary{path.string() + ".tmp" + std::to_string(::gettid())};
  const Descriptor opened(
      ::open(temporary.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (opened.fd < 0) fail("write", path);
  write_all(opened.fd, content, path);
  if (::fsync(opened.fd) != 0) fail("sync", path);
  if (::rename(temporary.path.c_str(), path.c_str()) != 0) fail("write", path);
  temporary.keep = true;
  sync_folder_of(path);
}

}  // namespace pipedream
