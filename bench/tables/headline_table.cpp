#include "tables/headline_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/plan_table.h"
#include "report/table.h"

namespace pipedream::bench {
namespace {

using nlohmann::ordered_json;
using report::percent;
using report::short_config;

std::string run_text(const std::optional<HeadlineRun>& run) {
  if (!run) return "–";
  return fmt::format("{}: {:.2f}×, {} saved", short_config(run->config), run->speedup,
                     percent(run->saved));
}

ordered_json run_json(const std::optional<HeadlineRun>& run) {
  if (!run) return nullptr;
  return {{"config", run->config}, {"speedup", run->speedup}, {"saved", run->saved}};
}

}  // namespace

std::string headline_table(std::span<const Headline> rows) {
  std::string text =
      "| model | cluster | measured by the paper | our plan, simulated | the paper's kind of plan, "
      "simulated | bandwidth data parallelism had, if all else is right | "
      "|\n|---|---|---|---|---|---|---|\n";
  for (const Headline& row : rows) {
    const std::string published =
        row.published.plan ? fmt::format("{}: {:g}×", *row.published.plan, *row.published.speedup)
                           : "–";
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", row.published.model,
                        row.published.cluster, published, run_text(row.ours), run_text(row.paper),
                        row.bandwidth_share ? percent(*row.bandwidth_share) : "–",
                        differs(row) ? "differs" : "");
  }
  return text;
}

ordered_json headline_json(const Headline& row) {
  const auto& published = row.published;
  ordered_json json{{"model", published.model}, {"cluster", published.cluster}};
  json["measured"] = published.plan
                         ? ordered_json{{"plan", *published.plan}, {"speedup", *published.speedup}}
                         : ordered_json();
  json["ours"] = run_json(row.ours);
  json["paper"] = run_json(row.paper);
  json["bandwidth_share"] =
      row.bandwidth_share ? ordered_json(*row.bandwidth_share) : ordered_json();
  json["differs"] = differs(row);
  return json;
}

}  // namespace pipedream::bench
