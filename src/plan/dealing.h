// Stages that are dealt out to workers in turn, as in interleaved pipelines
// (docs/systems.md#interleaved): with n workers, stage s is on worker s mod n, and every worker has
// the same number of stages.
#pragma once

#include <optional>
#include <vector>

#include "plan/plan.h"

namespace pipedream::plan {

// Returns the workers of each stage (one), if `stages` stages are dealt out to the first `workers`
// workers.
[[nodiscard]] std::vector<std::vector<WorkerId>> deal_out(int stages, int workers);

// Returns the number n of workers that the stages are dealt out to; nullopt if the stages are not
// dealt out in turn, or if one has replicas. The first n stages may be on the workers in any order.
// `workers` has the workers of each stage.
[[nodiscard]] std::optional<int> dealt_out_to(const std::vector<std::vector<WorkerId>>& workers);
[[nodiscard]] std::optional<int> dealt_out_to(const Plan& plan);

}  // namespace pipedream::plan
