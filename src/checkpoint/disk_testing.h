// Disks for tests: one that keeps a journal of its calls and fails at a given one, and the state of
// the disk after a crash of the machine, computed from a journal.
#pragma once

#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/disk.h"
#include "core/error.h"

namespace pipedream::checkpoint {

// One call of a Disk. A write is two: writing, and syncing what was written.
struct Call {
  enum class Kind { kMakeFolder, kWrite, kSyncFile, kSyncFolder, kRename, kRemove } kind;
  std::filesystem::path path;
  std::filesystem::path to{};  // for kRename
  std::string content{};       // for kWrite
};

// A disk that passes all calls on to the disk of this machine. It keeps a journal of the calls that
// succeeded.
class JournalDisk final : public Disk {
 public:
  // Call number `fails_at`, from 0, throws IoError instead; a write then leaves a part of its
  // content. If `for_good`, all later calls fail too, as on a full disk.
  explicit JournalDisk(std::size_t fails_at = SIZE_MAX, bool for_good = false)
      : fails_at_(fails_at), for_good_(for_good) {}

  void make_folder(const std::filesystem::path& folder) override {
    count();
    real_disk().make_folder(folder);
    calls.push_back({Call::Kind::kMakeFolder, folder});
  }
  void write(const std::filesystem::path& file, std::span<const std::string_view> pieces) override {
    std::string content;
    for (const std::string_view piece : pieces) content += piece;
    try {
      count();
    } catch (const IoError&) {
      const std::string_view part = std::string_view(content).substr(0, content.size() / 2);
      real_disk().write(file, std::span(&part, 1));
      throw;
    }
    real_disk().write(file, pieces);
    calls.push_back({Call::Kind::kWrite, file, {}, std::move(content)});
    count();  // the sync may fail, too
    calls.push_back({Call::Kind::kSyncFile, file});
  }
  void sync_folder(const std::filesystem::path& folder) override {
    count();
    calls.push_back({Call::Kind::kSyncFolder, folder});
  }
  void rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    count();
    real_disk().rename(from, to);
    calls.push_back({Call::Kind::kRename, from, to});
  }
  void remove(const std::filesystem::path& path) override {
    count();
    real_disk().remove(path);
    calls.push_back({Call::Kind::kRemove, path});
  }

  std::vector<Call> calls;

 private:
  void count() {
    const std::size_t call = made_++;
    if (call == fails_at_ || (for_good_ && call > fails_at_))
      throw IoError("call " + std::to_string(call) + " fails, as the test wants");
  }

  std::size_t fails_at_;
  bool for_good_;
  std::size_t made_ = 0;
};

// What a crash of the machine takes of the calls that were not synced.
enum class Loss {
  kAll,       // neither names nor contents
  kContents,  // names survive, and files that were not synced are empty
  kHalves,    // names survive, and files that were not synced have half of their content
};

// The files and folders below `root` as a crash leaves them. A tree of inodes: a name leads to an
// inode, and syncing makes an inode durable, not the names that lead to it.
class CrashedDisk {
 public:
  explicit CrashedDisk(std::filesystem::path root) : root_(std::move(root)) {
    top_->is_folder = true;
  }

  void apply(const Call& call) {
    switch (call.kind) {
      case Call::Kind::kMakeFolder: {
        std::shared_ptr<Inode>& made = entry(call.path);
        if (!made) made = std::make_shared<Inode>(Inode{.is_folder = true});
        break;
      }
      case Call::Kind::kWrite: {
        std::shared_ptr<Inode>& made = entry(call.path);
        if (!made) made = std::make_shared<Inode>();
        made->content = call.content;
        made->is_synced = false;
        break;
      }
      case Call::Kind::kSyncFile:
        entry(call.path)->synced_content = entry(call.path)->content;
        entry(call.path)->is_synced = true;
        break;
      case Call::Kind::kSyncFolder: {
        Inode& folder = call.path == root_ ? *top_ : *entry(call.path);
        folder.synced_names = folder.names;
        break;
      }
      case Call::Kind::kRename: {
        const std::shared_ptr<Inode> moved = entry(call.path);
        parent(call.path).names.erase(call.path.filename());
        entry(call.to) = moved;
        break;
      }
      case Call::Kind::kRemove:
        parent(call.path).names.erase(call.path.filename());
        break;
    }
  }

  // Writes what is left after a crash to `target`, an empty folder.
  void leave(const std::filesystem::path& target, Loss loss) const { leave(*top_, target, loss); }

 private:
  struct Inode {
    bool is_folder = false;
    bool is_synced = false;
    std::string content{};
    std::string synced_content{};
    std::map<std::string, std::shared_ptr<Inode>> names{};
    std::map<std::string, std::shared_ptr<Inode>> synced_names{};
  };

  [[nodiscard]] Inode& parent(const std::filesystem::path& path) {
    return path.parent_path() == root_ ? *top_ : *entry(path.parent_path());
  }
  [[nodiscard]] std::shared_ptr<Inode>& entry(const std::filesystem::path& path) {
    return parent(path).names[path.filename()];
  }

  static void leave(const Inode& folder, const std::filesystem::path& target, Loss loss) {
    for (const auto& [name, inode] : loss == Loss::kAll ? folder.synced_names : folder.names) {
      if (inode->is_folder) {
        std::filesystem::create_directory(target / name);
        leave(*inode, target / name, loss);
        continue;
      }
      std::string content = inode->is_synced ? inode->content : inode->synced_content;
      if (!inode->is_synced && loss == Loss::kHalves)
        content = inode->content.substr(0, inode->content.size() / 2);
      std::ofstream(target / name, std::ios::binary) << content;
    }
  }

  std::filesystem::path root_;
  std::shared_ptr<Inode> top_ = std::make_shared<Inode>();
};

}  // namespace pipedream::checkpoint
