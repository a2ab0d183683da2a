#include "report/account_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace pipedream::report {

std::string share_of(Nanos part, Nanos whole) {
  return whole > Nanos{0} ? percent(to_seconds(part) / to_seconds(whole)) : "–";
}

std::vector<Column> worker_columns(const std::vector<Column>& more) {
  std::vector<Column> columns{{"worker", Align::kRight},     {"stage"},
                              {"busy", Align::kRight},       {"recomputing", Align::kRight},
                              {"fill/drain", Align::kRight}, {"imbalance", Align::kRight},
                              {"transfer", Align::kRight},   {"wait", Align::kRight}};
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

std::vector<std::string> worker_entries(const plan::Plan& plan,
                                        const timeline::WorkerAccount& worker, Nanos whole) {
  return {std::to_string(worker.worker.value),
          stages_of(plan, worker.worker),
          share_of(worker.busy, whole),
          share_of(worker.recompute, whole),
          share_of(worker.idle.fill_drain, whole),
          share_of(worker.idle.imbalance, whole),
          share_of(worker.idle.transfer, whole),
          share_of(worker.idle.wait, whole)};
}

std::vector<Column> time_columns() {
  return {{"busy", Align::kRight},
          {"fill/drain", Align::kRight},
          {"imbalance", Align::kRight},
          {"transfer", Align::kRight},
          {"wait", Align::kRight}};
}

std::vector<std::string> time_entries(const timeline::Summary& summary) {
  const timeline::Idle& idle = summary.idle;
  const Nanos all = summary.busy + idle.total();
  return {percent(summary.utilisation()), share_of(idle.fill_drain, all),
          share_of(idle.imbalance, all), share_of(idle.transfer, all), share_of(idle.wait, all)};
}

std::string utilisation_text(const timeline::Summary& summary) {
  return fmt::format("{} of {} {}", percent(summary.utilisation()), summary.workers.size(),
                     summary.workers.size() == 1 ? "worker" : "workers");
}

std::string summary_line(const timeline::Summary& summary) {
  const std::vector<std::string> entries = time_entries(summary);
  return fmt::format("busy {}, idle: fill/drain {}, imbalance {}, transfer {}, wait {}", entries[0],
                     entries[1], entries[2], entries[3], entries[4]);
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

nlohmann::ordered_json workers_json(const timeline::Summary& summary) {
  auto workers = nlohmann::ordered_json::array();
  for (const timeline::WorkerAccount& account : summary.workers)
    workers.push_back({{"worker", account.worker.value},
                       {"busy", to_seconds(account.busy)},
                       {"recompute", to_seconds(account.recompute)},
                       {"idle", idle_json(account.idle)}});
  return workers;
}

nlohmann::ordered_json bytes_json(const std::vector<Bytes>& bytes) {
  auto json = nlohmann::ordered_json::array();
  for (const Bytes each : bytes) json.push_back(each.count);
  return json;
}

std::string bytes_text(double bytes) { return to_text(Bytes{static_cast<std::int64_t>(bytes)}); }

}  // namespace pipedream::report
