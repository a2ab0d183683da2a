// Which whole numbers an input of an exported program may have.
#pragma once

#include <cstdint>

#include "pt2/program.h"

namespace pipedream::imported {

// Returns the bound of `input` (model::InputSpec::bound): 0 for real numbers, 2 for truth values.
// For whole numbers it is the number of rows of the embedding that looks them up. If parts of the
// input go to different embeddings, or if it is not known where they go, the bound is 1, which
// means that nothing is known.
[[nodiscard]] std::int64_t bound_of(const pt2::Program& program, const pt2::Input& input,
                                    std::int64_t batch);

}  // namespace pipedream::imported
