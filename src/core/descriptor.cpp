#include "core/descriptor.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "core/error.h"

namespace pipedream {

void fail_with_errno(const char* verb, const std::filesystem::path& path) {
  throw IoError("cannot " + std::string(verb) + " " + path.string() + ": " + std::strerror(errno));
}

Descriptor::Descriptor(const std::filesystem::path& path, int flags, const char* verb,
                       std::filesystem::path named, unsigned mode)
    : named_(std::move(named)), fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {
  if (fd_ < 0) fail_with_errno(verb, named_);
}

Descriptor::~Descriptor() { ::close(fd_); }

void Descriptor::write(std::string_view content) const {
  while (!content.empty()) {
    const ssize_t written = ::write(fd_, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with_errno("write", named_);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Descriptor::sync(const char* verb) const {
  if (::fsync(fd_) != 0) fail_with_errno(verb, named_);
}

}  // namespace pipedream
