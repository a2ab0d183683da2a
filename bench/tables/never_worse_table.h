// The comparison of tables/never_worse.h as the table of docs/never_worse.md.
#pragma once

#include <span>
#include <string>

#include "tables/never_worse.h"

namespace pipedream::bench {

// A Markdown table, one line per model and cluster.
[[nodiscard]] std::string never_worse_table(std::span<const Comparison> comparisons);

}  // namespace pipedream::bench
