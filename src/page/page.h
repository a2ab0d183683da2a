// The page of a run: one HTML file that needs nothing else (docs/page.md).
#pragma once

#include <string>
#include <vector>

#include "page/data.h"

namespace pipedream::page {

// Returns the page of these runs, of which there is at least one.
[[nodiscard]] std::string html(const std::string& title, const std::vector<Run>& runs);

}  // namespace pipedream::page
