// Label smoothing (Szegedy et al. 2016) for a network that was made without.
#pragma once

#include "model/network.h"

namespace pipedream::model {

// Makes the network train towards labels of which a share `smoothing` is spread evenly over all
// classes. Evaluations still compare with the labels themselves. Throws CannotMeet if the network's
// loss is not cross_entropy() (model/blocks.h).
void smooth_labels(Network& network, double smoothing);

}  // namespace pipedream::model
