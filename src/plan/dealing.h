// Stages that are dealt out to workers in turn, as in interleaved pipelines: with n workers, stage
// s is on worker s mod n, and every worker has as many stages as any other.
#pragma once

#include <optional>
#include <vector>

#include "plan/plan.h"

namespace pipedream::plan {

// The workers of each of `stages` stages, dealt out to the first `workers` workers.
[[nodiscard]] std::vector<std::vector<WorkerId>> deal_out(int stages, int workers);

// The number of workers that the stages are dealt out to, the first of each in any order. Nothing
// if the stages are not dealt out in turn, or have replicas.
[[nodiscard]] std::optional<int> dealt_out_to(const std::vector<std::vector<WorkerId>>& workers);
[[nodiscard]] std::optional<int> dealt_out_to(const Plan& plan);

}  // namespace pipedream::plan
