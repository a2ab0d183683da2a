// What it costs to run each layer of a model, measured once per minibatch on one device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.h"
#include "graph/graph.h"

namespace pipedream::profile {

struct LayerCost {
  Nanos forward{0};
  Nanos backward{0};
  Bytes weights;
  // What stays allocated from the layer's forward to its backward on account of this layer: its
  // own intermediate results, and those of its outputs that it keeps itself.
  Bytes stash;
  // Per input of the layer: whether its backward needs that value again. A value is held while its
  // producer or a consumer keeps it, once however many do. Empty where not known.
  std::vector<bool> keeps_input;
  friend bool operator==(const LayerCost&, const LayerCost&) = default;
};

// Invariant: costs has one entry per layer of the graph; entries of input layers are zero.
struct Profile {
  std::string model;
  std::optional<std::int64_t> batch;  // samples of one minibatch; PipeDream's text does not say
  std::string device;                 // "cpu", "cuda:0 (NVIDIA H200)"; empty where not known
  std::optional<int> threads;         // intra-op threads
  Nanos input{0};                     // reading one minibatch, apart from all compute
  std::optional<Nanos> whole;         // forward + backward of the whole model, timed in one go
  graph::Graph graph;
  std::vector<LayerCost> costs;

  [[nodiscard]] const LayerCost& cost(LayerId layer) const { return costs.at(layer.index()); }
};

// The most that all layers of a model may take and hold together: no sum over layers overflows,
// nor does such a sum times a thousand minibatches in flight.
inline constexpr Nanos kLongestInAll = std::chrono::seconds(1'000'000);
inline constexpr Bytes kLargestInAll{std::int64_t{1} << 53};

// Throws BadValue when the layers' times or bytes pass these limits: whoever reads a profile calls
// it.
void check_totals(const Profile& profile);

// Sums over all layers.
[[nodiscard]] Nanos total_forward(const Profile& profile);
[[nodiscard]] Nanos total_backward(const Profile& profile);
[[nodiscard]] Bytes total_weights(const Profile& profile);

}  // namespace pipedream::profile
