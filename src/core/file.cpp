#include "core/file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"

namespace pipedream {
namespace {

constexpr std::size_t kMostFromDevices = std::size_t{1} << 30;

[[noreturn]] void fail(const char* verb, const std::filesystem::path& path) {
  throw IoError("cannot " + std::string(verb) + " " + path.string() + ": " + std::strerror(errno));
}

// Closes the file descriptor in its destructor.
struct Descriptor {
  int fd;
  explicit Descriptor(int opened) : fd(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

// Removes the temporary file in its destructor, unless `keep` says that the file was renamed.
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

// What a path refers to, with symbolic links followed.
struct Target {
  std::filesystem::path path;
  bool regular = true;  // a regular file, or nothing exists there yet
  mode_t mode = 0;      // permissions; 0 if nothing exists there yet
};

Target target_of(const std::filesystem::path& path) {
  constexpr int kMostLinks = 40;  // Linux follows 40 links, too
  Target target{path};
  struct stat info {};
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(target.path, error); ++i)
    target.path = target.path.parent_path() / std::filesystem::read_symlink(target.path, error);
  if (::stat(target.path.c_str(), &info) != 0) return target;
  if (S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    fail("write", path);
  }
  target.regular = S_ISREG(info.st_mode);
  target.mode = info.st_mode & 07777;
  return target;
}

// The name holds the thread's id, so that two threads that write the same file use different
// temporary files.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  return path.string() + ".tmp" + std::to_string(::gettid());
}

}  // namespace

bool is_there(const std::filesystem::path& path) {
  std::error_code failure;
  const bool found = std::filesystem::exists(path, failure);
  if (failure) throw IoError("cannot read " + path.string() + ": " + failure.message());
  return found;
}

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
    if (!S_ISREG(info.st_mode) && content.size() > kMostFromDevices)
      throw IoError("cannot read " + path.string() + ": it is no regular file and gives no end");
    content.append(piece, static_cast<std::size_t>(got));
  }
}

void prepare_to_write(const std::filesystem::path& path) {
  const Target target = target_of(path);
  if (!target.regular) return;
  std::error_code error;
  if (target.path.has_parent_path())
    std::filesystem::create_directories(target.path.parent_path(), error);
  if (error) throw IoError("cannot write " + path.string() + ": " + error.message());
  const Temporary temporary{temporary_name(target.path)};
  const Descriptor opened(::open(temporary.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (opened.fd < 0) fail("write", path);
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  const Target target = target_of(path);
  if (!target.regular) {
    const Descriptor opened(::open(target.path.c_str(), O_WRONLY | O_CLOEXEC));
    if (opened.fd < 0) fail("write", path);
    return write_all(opened.fd, content, path);
  }
  Temporary temporary{temporary_name(target.path)};
  const Descriptor opened(
      ::open(temporary.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (opened.fd < 0) fail("write", path);
  if (target.mode != 0 && ::fchmod(opened.fd, target.mode) != 0) fail("write", path);
  write_all(opened.fd, content, path);
  if (::fsync(opened.fd) != 0) fail("sync", path);
  if (::rename(temporary.path.c_str(), target.path.c_str()) != 0) fail("write", path);
  temporary.keep = true;
  sync_folder_of(target.path);
}

}  // namespace pipedream
