// Imported models as the networks that users ask for.
#pragma once

#include <filesystem>
#include <string>

#include "model/network_entry.h"

namespace pipedream::imported {

// Whether `name` names a file of torch.export rather than a network of the zoo: it ends with
// ".pt2", or has a '/'.
[[nodiscard]] bool is_file_name(const std::string& name);

// The model in a file. Its option is `loss`. Throws what Model throws.
[[nodiscard]] model::NetworkEntry entry_of(const std::filesystem::path& file);

}  // namespace pipedream::imported
