// The systems side by side: what each is, and its traits in words. The table of docs/systems.md.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "systems/system.h"

namespace pipedream::report {

// Returns a line per system, for a terminal.
[[nodiscard]] std::string systems_table();
// Returns the same as a table of Markdown, which docs/systems.md has.
[[nodiscard]] std::string systems_markdown();
// Returns {"systems": [{"name", "about", traits, "options"}]} (docs/formats.md#systems).
[[nodiscard]] nlohmann::ordered_json systems_json();

}  // namespace pipedream::report
