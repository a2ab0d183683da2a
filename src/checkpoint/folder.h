// The checkpoints of a run folder (docs/checkpoints.md): writing one so that it exists whole or not
// at all, finding the newest sound one, and removing old ones.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checkpoint/disk.h"
#include "checkpoint/manifest.h"

namespace pipedream::checkpoint {

inline constexpr const char* kManifestFile = "manifest.json";

// Returns the folder of a step: "step-00001200".
[[nodiscard]] std::string folder_name(std::int64_t step);
// Returns the number in "step-00001200"; nullopt for any other name.
[[nodiscard]] std::optional<std::int64_t> step_of(const std::string& name);

// One checkpoint that is being written. Its files go to a folder with a temporary name; finish()
// gives the folder its name. Workers of several processes may write their files at the same time,
// each with an object of its own; one of them calls finish() when all others are done.
class NewCheckpoint {
 public:
  // `folder` is the folder of all checkpoints, which must exist. Throws IoError.
  NewCheckpoint(Disk& disk, std::filesystem::path folder, std::int64_t step);

  // Writes and syncs one file. Throws IoError.
  [[nodiscard]] FileEntry add(const std::string& name, std::span<const std::string_view> pieces);
  // Writes the manifest, with all `files`, and renames the folder. When this returns, the
  // checkpoint survives a crash of the machine. A folder of the same step is removed before. Throws
  // IoError.
  void finish(const Manifest& manifest);
  // Removes what was written, if that is possible. Nobody may be writing to this checkpoint.
  void give_up() noexcept;

 private:
  Disk& disk_;
  std::filesystem::path folder_;
  std::filesystem::path temporary_;
  std::filesystem::path final_;
};

// Why a checkpoint cannot be used.
struct Damage {
  std::string why;
  // Whether the files are damaged for good. If not, they could not be read this time, for example
  // for lack of permission, or another version of the program has written them.
  bool is_for_good = true;
};

// A folder with the name of a step.
struct Found {
  std::int64_t step = 0;
  std::filesystem::path path;
  std::variant<Manifest, Damage> content;
};

// Returns all checkpoints in `folder`, ascending by step. Reads the manifests and not the other
// files. Returns nothing if there is no such folder. Throws IoError if the folder cannot be read.
[[nodiscard]] std::vector<Found> find_checkpoints(const std::filesystem::path& folder);

// Returns what is wrong with `found`: why its manifest cannot be used, or which of the files that
// it lists is missing, a symbolic link, of another length, or changed. Returns nullopt if nothing
// is.
[[nodiscard]] std::optional<Damage> damage_of(const Found& found);

// A checkpoint that was passed over, and why.
struct Skipped {
  std::filesystem::path path;
  Damage damage;
};
struct Newest {
  std::optional<Found> found;    // `content` is a manifest
  std::vector<Skipped> skipped;  // those newer than `found`, the newest first
};
// Returns the newest checkpoint whose files are all as they were written.
[[nodiscard]] Newest newest_sound(const std::filesystem::path& folder);

// Removes one checkpoint: first its manifest, so that no half of it can be taken for a whole, then
// all files in its folder, and the folder. Throws IoError, for example if the folder holds another.
void remove_checkpoint(Disk& disk, const std::filesystem::path& checkpoint);

// Returns the name of a file in the folder of all checkpoints that is of no use once its writer has
// ended. remove_unfinished() removes it.
[[nodiscard]] std::string temporary_name(const std::string& name);

// Removes what writers that did not finish have left behind. Does not follow symbolic links.
void remove_unfinished(Disk& disk, const std::filesystem::path& folder);

}  // namespace pipedream::checkpoint
