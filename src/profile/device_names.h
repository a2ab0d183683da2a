// The names of devices and precisions in files (docs/formats.md#profile).
#pragma once

#include <string>

#include "core/document.h"

namespace pipedream::profile {

// Returns the text of `node`, which must be "cpu", "cuda" or a name such as "cuda:0". Throws
// BadFile for any other text.
[[nodiscard]] std::string read_device(const Node& node);
// Returns the text of `node`, which must be "fp32" or "bf16". Throws BadFile for any other text.
[[nodiscard]] std::string read_precision(const Node& node);

// Returns `device` without its index, which has a meaning on one machine only: "cuda" for "cuda:1".
[[nodiscard]] std::string kind_of_device(const std::string& device);

}  // namespace pipedream::profile
