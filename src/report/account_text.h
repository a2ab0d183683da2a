// Busy and idle time as text and JSON: the same for simulated and for real runs.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "plan/plan.h"
#include "report/table.h"
#include "timeline/account.h"

namespace pipedream::report {

// A part of a time: "12.3 %"; "–" of nothing.
[[nodiscard]] std::string share_of(Nanos part, Nanos whole);

// One worker's line of a table: who it is, and its time by cause as parts of `whole`; the columns
// end with `more`.
[[nodiscard]] std::vector<Column> worker_columns(const std::vector<Column>& more);
[[nodiscard]] std::vector<std::string> worker_entries(const plan::Plan& plan,
                                                      const timeline::WorkerAccount& worker,
                                                      Nanos whole);
// The same for all workers together: how busy they were and why not.
[[nodiscard]] std::vector<Column> time_columns();
[[nodiscard]] std::vector<std::string> time_entries(const timeline::Summary& summary);

// "68.1 % of 4 workers"
[[nodiscard]] std::string utilisation_text(const timeline::Summary& summary);

// "busy 68.1 %, idle: fill/drain …"
[[nodiscard]] std::string summary_line(const timeline::Summary& summary);

// The numbers of the stages that a worker has.
[[nodiscard]] std::string stages_of(const plan::Plan& plan, WorkerId worker);

[[nodiscard]] nlohmann::ordered_json idle_json(const timeline::Idle& idle);

[[nodiscard]] nlohmann::ordered_json bytes_json(const std::vector<Bytes>& bytes);

[[nodiscard]] std::string bytes_text(double bytes);

}  // namespace pipedream::report
