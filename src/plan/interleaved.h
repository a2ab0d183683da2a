// Interleaved pipelines: every worker has several balanced stages (chunks), dealt out in turn.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "plan/planner.h"

namespace pipedream::plan {

inline constexpr int kMostChunks = 4;  // stages per worker that are tried unless the user says

// Plans that fit, at least one, the best predicted first: one for every number of workers and
// chunks that is tried, with and without recomputation.
using InterleavedAnswers = std::variant<std::vector<Answer>, Refusal>;

// Numbers of workers from 2 to all of them and of chunks from 2 to kMostChunks are tried, as far as
// there are layers for their stages. On large clusters only some numbers of workers are: those up
// to 16, powers of 2, whole machines and all. With `stages`, only pairs whose product it is. One
// worker has a single stage. Requires a predictor with Cuts::in_declared_order.
[[nodiscard]] InterleavedAnswers plan_interleaved(const Predictor& predictor,
                                                  std::optional<int> stages);

}  // namespace pipedream::plan
