#include "checkpoint/disk.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>

#include "core/descriptor.h"

namespace pipedream::checkpoint {
namespace {

class RealDisk final : public Disk {
 public:
  void make_folder(const std::filesystem::path& folder) override {
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
      fail_with_errno("make the folder", folder);
  }

  void write(const std::filesystem::path& file, std::span<const std::string_view> pieces) override {
    const Descriptor opened(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, "write");
    for (const std::string_view piece : pieces) opened.write(piece);
    // With this descriptor: over a network, a late failure to write is told to no other.
    opened.sync("write");
  }

  void sync_folder(const std::filesystem::path& folder) override {
    Descriptor(folder, O_RDONLY | O_DIRECTORY, "sync").sync();
  }

  void rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) fail_with_errno("rename", from);
  }

  void remove(const std::filesystem::path& path) override {
    if (::remove(path.c_str()) != 0) fail_with_errno("remove", path);
  }
};

}  // namespace

Disk& real_disk() {
  static RealDisk disk;
  return disk;
}

}  // namespace pipedream::checkpoint
