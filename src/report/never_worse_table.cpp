#include "report/never_worse_table.h"

#include <fmt/format.h>

#include "core/units.h"
#include "report/plan_table.h"

namespace pipedream::report {
namespace {

// "15-1, 42.3 ms"
std::string cell(const std::optional<systems::TimedPlan>& plan) {
  if (!plan) return "does not fit";
  return fmt::format("{}, {}", short_config(plan->config), to_text(from_seconds(plan->seconds)));
}

}  // namespace

std::string never_worse_table(std::span<const systems::Comparison> comparisons) {
  std::string text =
      "| model | cluster | `auto` | pipedream, our planner | data parallel | best straight | "
      "hierarchical | DAPPLE | all but one – one |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const systems::Comparison& row : comparisons)
    text += fmt::format("| {} | {} | {} {} | {} | {} | {} | {} | {} | {} |\n", row.model,
                        row.cluster, row.chosen.value_or("nothing"), cell(row.best), cell(row.ours),
                        cell(row.data_parallel), cell(row.straight), cell(row.hierarchical),
                        cell(row.dapple), cell(row.all_but_one));
  return text;
}

}  // namespace pipedream::report
