// Label smoothing (Szegedy et al. 2016) for a network that was made without.
#pragma once

#include "model/network.h"

namespace pipedream::model {

// Adds label smoothing to the network's loss: in training, the share `smoothing` of each label is
// spread evenly over all classes. Evaluations still compare with the labels themselves. Throws
// CannotMeet if the network's loss is not cross_entropy() (model/blocks.h).
void smooth_labels(Network& network, double smoothing);

}  // namespace pipedream::model
