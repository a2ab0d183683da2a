// What happens in a timeline, in words: the tooltips of its picture.
#pragma once

#include <string>

#include "schedule/ops.h"

namespace pipedream::report {

// Returns what an op does, as in "forward of minibatch 3, microbatch 1, stage 0, with weight
// version 2". Microbatches are named only if `with_microbatches`.
[[nodiscard]] std::string words_of(const schedule::Op& op, bool with_microbatches);

}  // namespace pipedream::report
