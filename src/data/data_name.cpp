#include "data/data_name.h"

#include <algorithm>

#include "core/text.h"

namespace pipedream::data {
namespace {

// Kinds whose names have several files, separated by commas.
bool has_list(const std::string& kind) {
  return kind == "safetensors:" || kind == "npy:" || kind == "tokens:" || kind == "pairs:";
}

}  // namespace

std::vector<std::filesystem::path> files_of_data(const std::string& name) {
  std::vector<std::filesystem::path> files;
  (void)with_files(name, [&](const std::filesystem::path& file) {
    files.push_back(file);
    return file;
  });
  return files;
}

std::string with_files(
    const std::string& name,
    const std::function<std::filesystem::path(const std::filesystem::path&)>& change) {
  const auto colon = name.find(':');
  if (colon == name.npos) return name;
  const std::string kind = name.substr(0, colon + 1);
  const std::string rest = name.substr(colon + 1);
  if (!has_list(kind)) return kind + change(rest).string();
  return kind +
         joined(
             split(rest, ','), [&](const std::string& file) { return change(file).string(); }, ",");
}

bool was_moved(const std::string& before, const std::string& now) {
  const auto plain = [](const std::filesystem::path& file) {
    return (file / "").parent_path().filename();  // also of a folder, which may end with a slash
  };
  if (before == now || with_files(before, plain) != with_files(now, plain)) return false;
  const auto old = files_of_data(before);
  const auto copies = files_of_data(now);
  return std::equal(old.begin(), old.end(), copies.begin(), copies.end(),
                    [](const std::filesystem::path& file, const std::filesystem::path& copy) {
                      std::error_code none;
                      std::error_code folder;
                      if (!std::filesystem::exists(file, none)) return true;
                      const auto size = std::filesystem::file_size(file, folder);
                      return !folder && size == std::filesystem::file_size(copy, folder) && !folder;
                    });
}

}  // namespace pipedream::data
