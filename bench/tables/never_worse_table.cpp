#include "tables/never_worse_table.h"

#include <fmt/format.h>

#include "core/units.h"
#include "report/plan_table.h"

namespace pipedream::bench {
namespace {

using report::short_config;

// "15-1, 42.3 ms"
std::string cell(const std::optional<TimedPlan>& plan) {
  if (!plan) return "does not fit";
  return fmt::format("{}, {}", short_config(plan->config), to_text(from_seconds(plan->seconds)));
}

}  // namespace

std::string never_worse_table(std::span<const Comparison> comparisons) {
  std::string text =
      "| model | cluster | `auto` | `auto`, for speed | pipedream, our planner | data parallel | "
      "best straight | hierarchical | DAPPLE | all but one – one "
      "|\n|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Comparison& row : comparisons)
    text += fmt::format("| {} | {} | {} {} | {} {} | {} | {} | {} | {} | {} | {} |\n", row.model,
                        row.cluster, row.chosen.value_or("nothing"), cell(row.best),
                        row.fastest.value_or("nothing"), cell(row.speedy), cell(row.ours),
                        cell(row.data_parallel), cell(row.straight), cell(row.hierarchical),
                        cell(row.dapple), cell(row.all_but_one));
  return text;
}

}  // namespace pipedream::bench
