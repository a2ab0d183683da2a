#include "report/account_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/table.h"

namespace pipedream::report {

std::string share_of(Nanos part, Nanos whole) {
  return whole > Nanos{0} ? percent(to_seconds(part) / to_seconds(whole)) : "–";
}

std::string summary_line(const timeline::Summary& summary) {
  const Nanos all = summary.busy + summary.idle.total();
  return fmt::format("busy {}, idle: fill/drain {}, imbalance {}, transfer {}, wait {}",
                     percent(summary.utilisation()), share_of(summary.idle.fill_drain, all),
                     share_of(summary.idle.imbalance, all), share_of(summary.idle.transfer, all),
                     share_of(summary.idle.wait, all));
}

std::string stages_of(const plan::Plan& plan, WorkerId worker) {
  std::string text;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto& workers = plan.stages[s].workers;
    if (std::find(workers.begin(), workers.end(), worker) == workers.end()) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(s);
  }
  return text;
}

nlohmann::ordered_json idle_json(const timeline::Idle& idle) {
  return {{"fill_drain", to_seconds(idle.fill_drain)},
          {"imbalance", to_seconds(idle.imbalance)},
          {"transfer", to_seconds(idle.transfer)},
          {"wait", to_seconds(idle.wait)}};
}

std::string bytes_text(double bytes) { return to_text(Bytes{static_cast<std::int64_t>(bytes)}); }

}  // namespace pipedream::report
