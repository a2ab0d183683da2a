#include "checkpoint/folder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <functional>
#include <future>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checksum.h"
#include "core/error.h"
#include "core/units.h"

namespace pipedream::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kUnfinished = ".unfinished-";
constexpr std::int64_t kLargestManifest = std::int64_t{1} << 26;
constexpr std::uint64_t kLarge = 1 << 20;

// Reads a regular file in pieces. Does not follow a symbolic link at `path`.
class Reader {
 public:
  // Throws BadFile if there is no regular file, and IoError if it cannot be opened.
  explicit Reader(const fs::path& path)
      : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)) {
    struct stat info {};
    if (fd_ < 0 || ::fstat(fd_, &info) != 0) {
      const int reason = errno;
      close();
      if (reason == ELOOP) throw BadFile(path_.string() + ": it is a symbolic link");
      if (reason == ENOENT) throw BadFile(path_.string() + ": " + std::strerror(reason));
      throw IoError(path_.string() + ": " + std::strerror(reason));
    }
    if (!S_ISREG(info.st_mode)) {
      close();
      throw BadFile(path_.string() + ": it is no regular file");
    }
    size_ = static_cast<std::uint64_t>(info.st_size);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { close(); }

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Returns the next piece, empty at the end of the file. It is valid until the next call.
  std::string_view next() {
    while (true) {
      const ssize_t got = ::read(fd_, piece_.data(), piece_.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw IoError(path_.string() + ": " + std::strerror(errno));
      return {piece_.data(), static_cast<std::size_t>(got)};
    }
  }

 private:
  void close() const {
    if (fd_ >= 0) ::close(fd_);
  }

  fs::path path_;
  int fd_;
  std::uint64_t size_ = 0;
  std::vector<char> piece_ = std::vector<char>(1 << 17);
};

// The type of what `path` names, without following a symbolic link. Throws IoError if the system
// does not tell.
fs::file_type type_of(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type == fs::file_type::none) throw IoError(path.string() + ": " + error.message());
  return type;
}

// Throws BadFile if `path` is not a folder but, for example, a symbolic link to one.
void expect_folder(const fs::path& path) {
  if (type_of(path) != fs::file_type::directory)
    throw BadFile(path.string() + ": wanted a folder, found a link or a file");
}

Manifest read_manifest(const fs::path& checkpoint, std::int64_t step) {
  expect_folder(checkpoint);
  Reader reader(checkpoint / kManifestFile);
  if (reader.size() > static_cast<std::uint64_t>(kLargestManifest))
    throw BadFile(fmt::format("{}: wanted a manifest of at most {}, found {}",
                              (checkpoint / kManifestFile).string(),
                              to_text(Bytes{kLargestManifest}),
                              to_text(Bytes{static_cast<std::int64_t>(reader.size())})));
  std::string content;
  for (std::string_view piece = reader.next(); !piece.empty(); piece = reader.next())
    content += piece;
  Manifest manifest = parse_manifest(content, (checkpoint / kManifestFile).string());
  if (manifest.position.step != step)
    throw BadFile((checkpoint / kManifestFile).string() + ": it is of step " +
                  std::to_string(manifest.position.step) + ", another than its folder's");
  return manifest;
}

void check_file(const fs::path& checkpoint, const FileEntry& entry) {
  const fs::path path = checkpoint / entry.name;
  Reader reader(path);
  if (reader.size() != entry.bytes)
    throw BadFile(
        fmt::format("{}: wanted {} bytes, found {}", path.string(), entry.bytes, reader.size()));
  Checksum sum;
  for (std::string_view piece = reader.next(); !piece.empty(); piece = reader.next())
    sum.add(piece);
  if (sum.text() != entry.checksum)
    throw BadFile(
        fmt::format("{}: it was changed after it was written: its checksum is {}, and "
                    "the manifest says {}",
                    path.string(), sum.text(), entry.checksum));
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  if (!fs::exists(folder, error) && !error) return entries;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    entries.push_back(at->path());
  if (error) throw IoError("cannot read the folder " + folder.string() + ": " + error.message());
  std::sort(entries.begin(), entries.end());
  return entries;
}

// Removes a folder with the files in it; it must have no folders in it. A file or a symbolic link
// is removed itself.
void remove_with_files(Disk& disk, const fs::path& path) {
  if (type_of(path) == fs::file_type::directory)
    for (const fs::path& file : entries_of(path)) disk.remove(file);
  disk.remove(path);
}

// Returns the damage that `read` reports by its exceptions; nullopt if it throws none.
std::optional<Damage> damage_in(const std::function<void()>& read) {
  try {
    read();
    return std::nullopt;
  } catch (const OtherVersion& other) {
    return Damage{other.what(), /*is_for_good=*/false};
  } catch (const BadFile& bad) {
    return Damage{bad.what()};
  } catch (const IoError& error) {
    return Damage{error.what(), /*is_for_good=*/false};
  }
}

}  // namespace

std::string folder_name(std::int64_t step) { return fmt::format("{}{:08}", kPrefix, step); }

std::optional<std::int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  std::int64_t step = -1;
  const auto [end, error] =
      std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
  const bool is_number = error == std::errc() && end == name.data() + name.size() && step >= 0;
  return is_number && folder_name(step) == name ? std::optional(step) : std::nullopt;
}

std::string temporary_name(const std::string& name) { return std::string(kUnfinished) + name; }

NewCheckpoint::NewCheckpoint(Disk& disk, fs::path folder, std::int64_t step)
    : disk_(disk),
      folder_(std::move(folder)),
      temporary_(folder_ / temporary_name(folder_name(step))),
      final_(folder_ / folder_name(step)) {
  disk_.make_folder(temporary_);
}

FileEntry NewCheckpoint::add(const std::string& name, std::span<const std::string_view> pieces) {
  FileEntry entry{name};
  for (const std::string_view piece : pieces) entry.bytes += piece.size();
  // Large files are summed up on another thread while this one writes.
  const auto when = entry.bytes > kLarge ? std::launch::async : std::launch::deferred;
  std::future<std::string> checksum = std::async(when, [&] {
    Checksum sum;
    for (const std::string_view piece : pieces) sum.add(piece);
    return sum.text();
  });
  disk_.write(temporary_ / name, pieces);
  entry.checksum = checksum.get();
  return entry;
}

void NewCheckpoint::finish(const Manifest& manifest) {
  const std::string text = to_json(manifest);
  (void)add(kManifestFile, std::array{std::string_view(text)});
  disk_.sync_folder(temporary_);
  if (type_of(final_) != fs::file_type::not_found) remove_checkpoint(disk_, final_);
  disk_.rename(temporary_, final_);
  disk_.sync_folder(folder_);
}

void NewCheckpoint::give_up() noexcept {
  try {
    remove_with_files(disk_, temporary_);
  } catch (const std::exception&) {  // remove_unfinished() tries again
  }
}

std::vector<Found> find_checkpoints(const fs::path& folder) {
  std::vector<Found> all;
  for (const fs::path& path : entries_of(folder)) {
    const auto step = step_of(path.filename().string());
    if (!step) continue;
    Found& found = all.emplace_back(Found{*step, path, Damage{}});
    if (auto damage = damage_in([&] { found.content = read_manifest(path, *step); }))
      found.content = std::move(*damage);
  }
  std::sort(all.begin(), all.end(), [](const Found& a, const Found& b) { return a.step < b.step; });
  return all;
}

std::optional<Damage> damage_of(const Found& found) {
  if (const auto* damage = std::get_if<Damage>(&found.content)) return *damage;
  return damage_in([&] {
    for (const FileEntry& entry : std::get<Manifest>(found.content).files)
      check_file(found.path, entry);
  });
}

Newest newest_sound(const fs::path& folder) {
  Newest newest;
  std::vector<Found> all = find_checkpoints(folder);
  for (; !all.empty(); all.pop_back()) {
    Found& last = all.back();
    const auto damage = damage_of(last);
    if (!damage) {
      newest.found = std::move(last);
      return newest;
    }
    newest.skipped.push_back({last.path, *damage});
  }
  return newest;
}

void remove_checkpoint(Disk& disk, const fs::path& checkpoint) {
  const fs::path manifest = checkpoint / kManifestFile;
  if (type_of(checkpoint) == fs::file_type::directory &&
      type_of(manifest) != fs::file_type::not_found) {
    disk.remove(manifest);
    disk.sync_folder(checkpoint);
  }
  remove_with_files(disk, checkpoint);
}

void remove_unfinished(Disk& disk, const fs::path& folder) {
  for (const fs::path& path : entries_of(folder))
    if (path.filename().string().starts_with(kUnfinished)) remove_with_files(disk, path);
}

}  // namespace pipedream::checkpoint
