// The names of devices and precisions in files.
#pragma once

#include <string>

#include "core/document.h"

namespace pipedream::profile {

// "cpu", "cuda" or one like "cuda:0"; anything else fails the node.
[[nodiscard]] std::string read_device(const Node& node);
// "fp32" or "bf16".
[[nodiscard]] std::string read_precision(const Node& node);

// Without an index, which is a matter of one machine: "cuda" of "cuda:1".
[[nodiscard]] std::string kind_of_device(const std::string& device);

}  // namespace pipedream::profile
