// When a ring all-reduce over workers on several hosts has two levels
// (docs/runtime.md#data-parallelism). Both transport/, which sums, and cost/, which predicts the
// time, use this rule.
#pragma once

#include <span>
#include <vector>

#include "core/ids.h"

namespace pipedream {

// Returns `members` grouped by host if their ring has two levels, else an empty vector. The ring
// has two levels if the members are on at least two hosts and every host has the same number of
// them, at least two. Hosts come in the order of their first members. `host_of[w]` is a number that
// identifies the host of worker w; an empty `host_of` means that all workers are on one host.
[[nodiscard]] std::vector<std::vector<WorkerId>> two_levels(std::span<const WorkerId> members,
                                                            std::span<const int> host_of);

}  // namespace pipedream
