#include "data/class_folders.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "data/permutation.h"

namespace pipedream::data {
namespace {

namespace fs = std::filesystem;

// Draws the files that are held out. A constant, so that no training ever learns from a file that
// another training of the same data was evaluated with.
constexpr std::uint64_t kHeldOutKey = 0x68656c64206f7574;

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with("."); }

bool is_picture_name(const fs::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

// Calls visit(entry) for what is in the folder, and below it if `deep`.
template <class Visit>
void for_entries(const fs::path& folder, bool deep, Visit visit) {
  try {
    for (fs::recursive_directory_iterator entry(folder), end; entry != end; ++entry) {
      if (is_hidden(entry->path()))
        entry.disable_recursion_pending();
      else
        visit(*entry);
      if (!deep) entry.disable_recursion_pending();
    }
  } catch (const fs::filesystem_error& error) {
    throw IoError(folder.string() + ": " + error.code().message());
  }
}

std::vector<std::string> folders_in(const fs::path& folder) {
  std::vector<std::string> names;
  for_entries(folder, /*deep=*/false, [&](const fs::directory_entry& entry) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  });
  std::sort(names.begin(), names.end());
  return names;
}

// Adds the pictures of one class. Returns how many other files there are.
std::int64_t add_class(const std::string& name, std::int64_t label, LabelledFiles& files) {
  std::vector<std::string> found;
  std::int64_t others = 0;
  for_entries(files.folder / name, /*deep=*/true, [&](const fs::directory_entry& entry) {
    if (!entry.is_regular_file()) return;
    if (is_picture_name(entry.path()))
      found.push_back(entry.path().lexically_relative(files.folder).string());
    else
      ++others;
  });
  if (found.empty())
    throw BadFile((files.folder / name).string() +
                  ": wanted files that end with .png, .jpg or .jpeg for this class, found none");
  std::sort(found.begin(), found.end());
  files.names.insert(files.names.end(), found.begin(), found.end());
  files.labels.insert(files.labels.end(), found.size(), label);
  return others;
}

LabelledFiles files_of_classes(const fs::path& folder, const std::vector<std::string>& classes) {
  LabelledFiles files{folder};
  std::int64_t others = 0;
  for (std::size_t i = 0; i < classes.size(); ++i)
    others += add_class(classes[i], static_cast<std::int64_t>(i), files);
  if (others > 0)
    log_info(folder.string() + ": left out " + counted(others, "file", "files") +
             ": the names of pictures end with .png, .jpg or .jpeg");
  return files;
}

// Throws BadFile for a class that is in `some` and not in `all`.
void want_classes(const std::vector<std::string>& some, const std::vector<std::string>& all,
                  const fs::path& where) {
  for (const std::string& name : some)
    if (!std::binary_search(all.begin(), all.end(), name))
      throw BadFile(where.string() + ": wanted the same classes in both sets, found no folder '" +
                    printable(name) + "' here");
}

// Throws IoError if the system does not say.
bool is_folder(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none) throw IoError(path.string() + ": " + error.message());
  return status.type() == fs::file_type::directory;
}

}  // namespace

ClassFolders read_class_folders(const fs::path& folder) {
  const bool has_sets = is_folder(folder / "train") && !folders_in(folder / "train").empty();
  const fs::path training = has_sets ? folder / "train" : folder;
  ClassFolders found{folders_in(training)};
  if (found.classes.size() < 2)
    throw BadFile(training.string() + ": wanted a folder for each of two or more classes, found " +
                  counted(static_cast<std::int64_t>(found.classes.size()), "folder", "folders"));
  for (const char* name : {"val", "test"}) {
    if (!has_sets || found.held_out || !is_folder(folder / name)) continue;
    const auto classes = folders_in(folder / name);
    want_classes(found.classes, classes, folder / name);
    want_classes(classes, found.classes, training);
    found.held_out = files_of_classes(folder / name, classes);
  }
  found.training = files_of_classes(training, found.classes);
  return found;
}

DividedFiles hold_out(const LabelledFiles& files, std::int64_t count) {
  std::map<std::int64_t, std::vector<std::int64_t>> of_class;
  for (std::int64_t i = 0; i < files.count(); ++i)
    of_class[files.labels[static_cast<std::size_t>(i)]].push_back(i);
  // How far each file is in the fixed order of its class, from 0 to 1. The lowest are held out.
  std::vector<std::tuple<double, std::int64_t>> places;
  for (const auto& [label, members] : of_class) {
    const auto size = static_cast<std::int64_t>(members.size());
    const Permutation order(size, kHeldOutKey);
    for (std::int64_t place = 0; place < size; ++place)
      places.emplace_back((static_cast<double>(place) + 0.5) / static_cast<double>(size),
                          members[static_cast<std::size_t>(order(place))]);
  }
  std::sort(places.begin(), places.end());
  std::vector<bool> is_held_out(files.names.size());
  for (std::int64_t i = 0; i < count; ++i)
    is_held_out[static_cast<std::size_t>(std::get<1>(places[static_cast<std::size_t>(i)]))] = true;
  DividedFiles divided{{files.folder}, {files.folder}};
  for (std::size_t i = 0; i < is_held_out.size(); ++i) {
    LabelledFiles& into = is_held_out[i] ? divided.held_out : divided.training;
    into.names.push_back(files.names[i]);
    into.labels.push_back(files.labels[i]);
  }
  return divided;
}

}  // namespace pipedream::data
