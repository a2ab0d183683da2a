// Busy and idle time as text and JSON: the same for simulated and for real runs.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "plan/plan.h"
#include "timeline/account.h"

namespace pipedream::report {

// A part of a time: "12.3 %"; "–" of nothing.
[[nodiscard]] std::string share_of(Nanos part, Nanos whole);

// "busy 68.1 %, idle: fill/drain …"
[[nodiscard]] std::string summary_line(const timeline::Summary& summary);

// The numbers of the stages that a worker has.
[[nodiscard]] std::string stages_of(const plan::Plan& plan, WorkerId worker);

[[nodiscard]] nlohmann::ordered_json idle_json(const timeline::Idle& idle);

[[nodiscard]] std::string bytes_text(double bytes);

}  // namespace pipedream::report
