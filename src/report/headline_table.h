// The table of docs/headline.md.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "systems/headline.h"

namespace pipedream::report {

[[nodiscard]] std::string headline_table(std::span<const systems::Headline> rows);
[[nodiscard]] nlohmann::ordered_json headline_json(const systems::Headline& row);

}  // namespace pipedream::report
