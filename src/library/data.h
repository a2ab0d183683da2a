// Adapts the samples of the library's users to data::DataSet (docs/library.md).
#pragma once

#include <pipedream/pipedream.h>

#include "data/data_set.h"

namespace pipedream::library {

// Returns the user's samples as data sets; `held_out` is null if the user held none out. Throws
// BadUsage if there are no training samples, or if the first sample of a data set does not have the
// types and shapes that the network's inputs read.
[[nodiscard]] data::Data data_of(const Data& data, const model::Network& network);

}  // namespace pipedream::library
