// The comparison of systems/never_worse.h as a document.
#pragma once

#include <span>
#include <string>

#include "tables/never_worse.h"

namespace pipedream::bench {

// A Markdown table, one line per model and cluster.
[[nodiscard]] std::string never_worse_table(std::span<const Comparison> comparisons);

}  // namespace pipedream::bench
