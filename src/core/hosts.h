// When a ring over workers of several hosts has two levels: for those who sum, and those who say
// how long that takes.
#pragma once

#include <span>
#include <vector>

#include "core/ids.h"

namespace pipedream {

// The members by host, hosts in the order of their first members, where a ring has two levels: as
// many on each of several hosts, more than one. Else nothing. `host_of` has any number for each
// worker; empty: all are on one.
[[nodiscard]] std::vector<std::vector<WorkerId>> two_levels(std::span<const WorkerId> members,
                                                            std::span<const int> host_of);

}  // namespace pipedream
