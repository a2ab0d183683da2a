// Labels that are padding: sentences of different lengths in one tensor.
#pragma once

#include <cstdint>

#include "model/network.h"

namespace pipedream::model {

// The label of a position where there is nothing to predict; torch ignores it by default, too.
inline constexpr std::int64_t kPaddingLabel = -100;

// Makes the network's loss ignore labels of kPaddingLabel: the loss of a pass is the sum over all
// other labels, divided by the number of all labels (cross_entropy(), model/blocks.h). Label
// smoothing stays, and may be added later. Throws CannotMeet if the network's loss is not
// cross_entropy().
void ignore_padding(Network& network);

}  // namespace pipedream::model
