// Candidates that differ from others in the number of microbatches alone (plan/planner.h). A
// prediction takes one number for each layout; a simulation may find another to be faster.
#pragma once

#include "plan/planner.h"

namespace pipedream::plan {

// The number of candidates that with_other_microbatches() varies.
inline constexpr std::size_t kVaried = 8;

// Returns `candidates` and, for each of the best kVaried, the same layout with half and with twice
// as many microbatches, as far as predict() may choose that number and the plan fits the memory.
// Returns `candidates` alone if the system does not cut minibatches or the setting says how many
// microbatches there are.
[[nodiscard]] Candidates with_other_microbatches(const Predictor& predictor, Candidates candidates);

}  // namespace pipedream::plan
