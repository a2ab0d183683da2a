// The calls by which checkpoints reach the disk. Tests put another disk behind this interface: one
// that fails, fills up, or loses what was not synced.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace pipedream::checkpoint {

// All functions throw IoError, with the path and the system's message. Names in a folder (after
// write(), rename() and remove()) survive a crash of the machine only after sync_folder(). Safe to
// use from several threads for different paths.
class Disk {
 public:
  virtual ~Disk() = default;

  // Makes a folder in an existing one. Does nothing if it is there already.
  virtual void make_folder(const std::filesystem::path& folder) = 0;
  // Creates a file, or replaces the content of one, with `pieces` one after another. When this
  // returns, the content survives a crash of the machine. After a failure the file may hold any
  // part of them.
  virtual void write(const std::filesystem::path& file,
                     std::span<const std::string_view> pieces) = 0;
  virtual void sync_folder(const std::filesystem::path& folder) = 0;
  // Gives a file or folder another name. `to` must not exist.
  virtual void rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  // Removes a file, a symbolic link, or an empty folder.
  virtual void remove(const std::filesystem::path& path) = 0;
};

// The disk of this machine.
[[nodiscard]] Disk& real_disk();

}  // namespace pipedream::checkpoint
