// Names of data, as `--data` takes them: "safetensors:a.safetensors,b.safetensors", "idx:DIR",
// "synthetic".
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace pipedream::data {

// Returns the files, or the folder, that the name has; none for data that is made up.
[[nodiscard]] std::vector<std::filesystem::path> files_of_data(const std::string& name);

// Returns the name with `change` applied to each of its files.
[[nodiscard]] std::string with_files(
    const std::string& name,
    const std::function<std::filesystem::path(const std::filesystem::path&)>& change);

// Returns whether `now` names the files of `before` in another folder, because somebody has moved
// or copied them: each file of `before` does not exist any more, or has the size of the other one.
[[nodiscard]] bool was_moved(const std::string& before, const std::string& now);

}  // namespace pipedream::data
