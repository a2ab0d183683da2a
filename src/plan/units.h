// Layers that no good plan separates. A layer that takes no time and has no weights (taking an item
// out of a tuple, an addition that the profile rounds to nothing) only multiplies the ways to cut:
// it goes with the layer that it depends on, or with the one that depends on it, wherever no stage
// then has to send or receive more. What it keeps in memory goes along.
#pragma once

#include <vector>

#include "core/ids.h"
#include "profile/profile.h"

namespace pipedream::plan {

// Every layer that computes, in groups; groups and the layers in them producers first, otherwise in
// the order of the graph.
[[nodiscard]] std::vector<std::vector<LayerId>> layer_units(const profile::Profile& profile);

// Each layer by itself, in the order of the graph.
[[nodiscard]] std::vector<std::vector<LayerId>> single_layers(const profile::Profile& profile);

}  // namespace pipedream::plan
