// Units: groups of layers that no good plan cuts apart (docs/planner.md#the-planners). A layer that
// takes no time and has no weights only multiplies the ways to cut. Examples are taking an item out
// of a tuple, and an addition whose time the profile rounds to 0. Such a layer joins the layer that
// it depends on, or the layer that depends on it, if no stage then has to send or receive more. The
// activations that it keeps move with it.
#pragma once

#include <vector>

#include "core/ids.h"
#include "profile/profile.h"

namespace pipedream::plan {

// Returns all layers but input layers, grouped into units. Units, and the layers in each, come with
// producers first, otherwise in the order of the graph.
[[nodiscard]] std::vector<std::vector<LayerId>> layer_units(const profile::Profile& profile);

// Returns all layers but input layers, each as a unit of its own, in the order of the graph.
[[nodiscard]] std::vector<std::vector<LayerId>> single_layers(const profile::Profile& profile);

}  // namespace pipedream::plan
