#include "core/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/descriptor.h"
#include "core/error.h"

namespace pipedream {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Descriptor file(path, O_RDONLY | O_CLOEXEC, "read");
  struct stat found {};
  if (::fstat(file.fd(), &found) != 0) fail_with_errno("read", path);
  if (!S_ISREG(found.st_mode))
    throw IoError("cannot read " + path.string() + ": it is no regular file");
  const auto size = static_cast<std::size_t>(found.st_size);
  if (size == 0) return;
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd(), 0);
  if (memory == MAP_FAILED) fail_with_errno("read", path);
  content_ = {static_cast<const char*>(memory), size};
}

MappedFile::~MappedFile() {
  if (!content_.empty()) (void)::munmap(const_cast<char*>(content_.data()), content_.size());
}

}  // namespace pipedream
