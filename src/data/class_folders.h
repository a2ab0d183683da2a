// Folders of pictures with one folder per class: which files there are and what they show
// (docs/runtime.md, data).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pipedream::data {

// Files with labels. File i is folder / names[i], and shows class number labels[i].
struct LabelledFiles {
  std::filesystem::path folder{};
  std::vector<std::string> names{};
  std::vector<std::int64_t> labels{};

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(names.size()); }
  [[nodiscard]] std::filesystem::path path(std::int64_t file) const {
    return folder / names[static_cast<std::size_t>(file)];
  }
};

struct ClassFolders {
  std::vector<std::string> classes{};  // their names, sorted; the label is the place in the list
  LabelledFiles training{};            // sorted by class, then by name
  std::optional<LabelledFiles> held_out{};
};

// Lists `folder`: it has a folder per class, or a folder `train`, and `val` or `test`, that have
// the same ones. In a class's folder and the folders below it, files whose names end with .png,
// .jpg or .jpeg, in letters of any case, are listed. Other files are left out, and a log line
// counts them. Names that begin with a dot are ignored.
//
// Throws IoError if a folder cannot be read, and BadFile if there are not two classes at least, if
// a class has no pictures, or if the two sets have different classes.
[[nodiscard]] ClassFolders read_class_folders(const std::filesystem::path& folder);

struct DividedFiles {
  LabelledFiles training{};
  LabelledFiles held_out{};
};

// Holds out `count` of the files. Each class has its share of them, give or take one file, and its
// files are drawn by a fixed order. So the same files are held out whatever the training's seed.
[[nodiscard]] DividedFiles hold_out(const LabelledFiles& files, std::int64_t count);

}  // namespace pipedream::data
