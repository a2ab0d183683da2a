// The table of docs/headline.md.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tables/headline.h"

namespace pipedream::bench {

[[nodiscard]] std::string headline_table(std::span<const Headline> rows);
[[nodiscard]] nlohmann::ordered_json headline_json(const Headline& row);

}  // namespace pipedream::bench
