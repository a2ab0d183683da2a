// Busy and idle time as text and JSON, for simulated and for real runs alike
// (docs/simulator.md#idle-time-has-four-causes).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "plan/plan.h"
#include "report/table.h"
#include "timeline/account.h"

namespace pipedream::report {

// Returns `part` as a share of `whole`, as in "12.3 %", or "–" if `whole` is 0.
[[nodiscard]] std::string share_of(Nanos part, Nanos whole);

// The columns of a table with a line per worker: its number, its stages and its time by cause, and
// at the end `more` columns. worker_entries() returns the entries of one worker for all but these;
// times are shares of `whole`.
[[nodiscard]] std::vector<Column> worker_columns(const std::vector<Column>& more);
[[nodiscard]] std::vector<std::string> worker_entries(const plan::Plan& plan,
                                                      const timeline::WorkerAccount& worker,
                                                      Nanos whole);
// The columns and entries for all workers together: the busy share and the idle shares by cause.
[[nodiscard]] std::vector<Column> time_columns();
[[nodiscard]] std::vector<std::string> time_entries(const timeline::Summary& summary);

// Returns the utilisation, as in "68.1 % of 4 workers".
[[nodiscard]] std::string utilisation_text(const timeline::Summary& summary);

// Returns the busy share and the idle shares by cause, as in "busy 68.1 %, idle: fill/drain …".
[[nodiscard]] std::string summary_line(const timeline::Summary& summary);

// Returns the numbers of the stages that a worker has, as in "0, 2".
[[nodiscard]] std::string stages_of(const plan::Plan& plan, WorkerId worker);

// Returns the idle time by cause, in seconds.
[[nodiscard]] nlohmann::ordered_json idle_json(const timeline::Idle& idle);
// Returns for each worker {"worker", "busy", "recompute", "idle"}, in seconds.
[[nodiscard]] nlohmann::ordered_json workers_json(const timeline::Summary& summary);

[[nodiscard]] nlohmann::ordered_json bytes_json(const std::vector<Bytes>& bytes);

[[nodiscard]] std::string bytes_text(double bytes);

}  // namespace pipedream::report
