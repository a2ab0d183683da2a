// PipeDream's 1F1B for straight pipelines, with weight stashing. Time goes right; stage 0 of three:
//
//   F0 F1 F2 B0 F3 B1 F4 B2 …      a start-up of n forwards on stage 0, then one backward
//      F0 F1 B0 F2 B1 F3 B2 …      and one forward in turn on every worker, without a flush
//         F0 B0 F1 B1 F2 B2 …
//
// Each backward is followed by its update; a forward uses the newest version its stage then has,
// max(0, b − d + 1), and the backward of b the version of its own forward (SYSTEMS.md §1).
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "schedule/ops.h"

namespace pipedream::schedule {

// The compute ops and updates, one program per worker of the plan. Requires one worker a stage, and
// a different one for each.
[[nodiscard]] std::vector<Program> one_f_one_b(const plan::Plan& plan, std::int64_t minibatches);

}  // namespace pipedream::schedule
