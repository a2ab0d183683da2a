#include "core/file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/descriptor.h"
#include "core/error.h"

namespace pipedream {
namespace {

constexpr std::size_t kMostFromDevices = std::size_t{1} << 30;

// Removes the temporary file in its destructor, unless `keep` says that the file was renamed.
struct Temporary {
  std::filesystem::path path;
  bool keep = false;
  ~Temporary() {
    if (!keep) ::unlink(path.c_str());
  }
};

void sync_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  constexpr const char* kVerb = "sync the folder of";
  Descriptor(folder, O_RDONLY | O_DIRECTORY, kVerb, path).sync(kVerb);
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
    fail_with_errno("write", path);
  }
  target.regular = S_ISREG(info.st_mode);
  target.mode = info.st_mode & 07777;
  return target;
}

// The name holds the thread's id, so that two threads that write the same file use different
// temporary files.
constexpr const char* kTemporary = ".tmp";
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  return path.string() + kTemporary + std::to_string(::gettid());
}

}  // namespace

bool is_there(const std::filesystem::path& path) {
  std::error_code failure;
  const bool found = std::filesystem::exists(path, failure);
  if (failure) throw IoError("cannot read " + path.string() + ": " + failure.message());
  return found;
}

std::string read_file(const std::filesystem::path& path) {
  const Descriptor opened(path, O_RDONLY, "read");
  std::string content;
  struct stat info {};
  if (::fstat(opened.fd(), &info) == 0 && info.st_size > 0)
    content.reserve(static_cast<std::size_t>(info.st_size));
  char piece[1 << 16];
  while (true) {
    const ssize_t got = ::read(opened.fd(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno("read", path);
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
  const Descriptor opened(temporary.path, O_WRONLY | O_CREAT, "write", path, 0600);
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  const Target target = target_of(path);
  if (!target.regular) {
    return Descriptor(target.path, O_WRONLY, "write", path).write(content);
  }
  Temporary temporary{temporary_name(target.path)};
  const Descriptor opened(temporary.path, O_WRONLY | O_CREAT | O_TRUNC, "write", path);
  if (target.mode != 0 && ::fchmod(opened.fd(), target.mode) != 0) fail_with_errno("write", path);
  opened.write(content);
  opened.sync();
  if (::rename(temporary.path.c_str(), target.path.c_str()) != 0) fail_with_errno("write", path);
  temporary.keep = true;
  sync_folder_of(target.path);
}

std::optional<std::string> name_when_finished(const std::string& name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  if (end == std::string::npos || end + 1 == name.size()) return std::nullopt;
  const std::string_view rest = std::string_view(name).substr(0, end + 1);
  if (!rest.ends_with(kTemporary)) return std::nullopt;
  return std::string(rest.substr(0, rest.size() - std::string_view(kTemporary).size()));
}

}  // namespace pipedream
