// The samples of the library's users as data sets of the program.
#pragma once

#include <pipedream/pipedream.h>

#include "train/data_set.h"

namespace pipedream::library {

// Throws BadUsage for training samples that are none, or that do not have what the network's
// inputs read: the first sample is looked at.
[[nodiscard]] train::Data data_of(const Data& data, const model::Network& network);

}  // namespace pipedream::library
