#include "core/file_lock.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/error.h"

namespace pipedream {
namespace {

// Returns the process id in the file as text; empty if there is none.
std::string holder_in(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), 0);
  const std::string found(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  return found.substr(0, found.find_first_not_of("0123456789"));
}

// Writes this process's id to the file. The id is only for messages, so errors are ignored.
void write_holder(int descriptor) {
  const std::string text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(descriptor, 0) != 0) return;
  [[maybe_unused]] const ssize_t written = ::pwrite(descriptor, text.data(), text.size(), 0);
}

}  // namespace

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::variant<FileLock, std::string> FileLock::try_lock(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) throw IoError("cannot open " + path.string() + ": " + std::strerror(errno));
  FileLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    write_holder(descriptor);
    return lock;
  }
  if (errno == EWOULDBLOCK) return holder_in(descriptor);
  throw IoError("cannot lock " + path.string() + ": " + std::strerror(errno));
}

}  // namespace pipedream
