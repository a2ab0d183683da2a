// What it costs to run each layer of a model, measured once per minibatch on one device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/units.h"
#include "graph/graph.h"
#include "profile/working.h"

namespace pipedream::profile {

struct LayerCost {
  Nanos forward{0};
  Nanos backward{0};
  Bytes weights;
  // Intermediate results that stay allocated from the layer's forward to its backward, besides its
  // inputs and outputs.
  Bytes stash;
  // Per input, and per output: whether the layer's backward needs that value again. A value is held
  // while its producer or a consumer keeps it, once however many do. Empty where not known: then
  // outputs count as kept and inputs do not, which comes to the same for a chain.
  std::vector<bool> keeps_input;
  std::vector<bool> keeps_output;
  Nanos update{0};  // one step of the optimiser over the layer's weights; 0 where not known
  // What averaging the gradients of its weights with other replicas, once, takes of the processor
  // that computes: collecting and summing. 0 where others do that, or where not known.
  Nanos averaging{0};
  // While its backward runs, besides what it keeps and its weights' gradients: gradients of its
  // inputs and outputs, and whatever it computes with.
  std::optional<Working> working{};
  // While its forward runs: what it keeps and hands on, inputs that nothing keeps, and whatever it
  // computes with. 0 where not known: `working` has it then.
  Working forward_working{};
  // What of forward and backward a pass takes however few samples it has, so that a microbatch
  // takes it too (cost/compute.h); at most as long as those. 0 where not known.
  Nanos fixed_forward{0};
  Nanos fixed_backward{0};

  // What a minibatch costs besides its forward. A replica updates its weights once per minibatch's
  // worth of its own compute, so the cost rules count the update with the backward
  // (docs/planner.md).
  [[nodiscard]] Nanos backward_with_update() const { return backward + update; }
  // All that it may take of a replica.
  [[nodiscard]] Nanos longest() const { return forward + backward_with_update() + averaging; }
  friend bool operator==(const LayerCost&, const LayerCost&) = default;
};

// Invariant: costs has one entry per layer of the graph; entries of input layers are zero.
struct Profile {
  std::string model;
  std::optional<std::int64_t> batch;  // samples of one minibatch; PipeDream's text does not say
  std::string device;                 // "cpu", "cuda:0"; empty where not known
  std::string precision;              // "fp32", "bf16"; empty where not known
  std::optional<int> threads;         // intra-op threads
  std::optional<int> workers;         // that computed at once, on one machine; none: one
  std::optional<int> passes;          // of which the times are medians
  Nanos input{0};                     // reading one minibatch, apart from all compute
  std::optional<Nanos> whole;         // the whole model's pass timed in one go, with its update
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

// What is held from a layer's forward to its backward on account of what it computed: its stash,
// and those of its outputs that the layer itself or one of their consumers keeps.
[[nodiscard]] Bytes held_bytes(const Profile& profile, LayerId layer);

// Whether every layer says how much memory it works with.
[[nodiscard]] bool knows_working(const Profile& profile);

// Sums over all layers.
[[nodiscard]] Nanos total_forward(const Profile& profile);
[[nodiscard]] Nanos total_backward(const Profile& profile);
[[nodiscard]] Nanos total_update(const Profile& profile);
[[nodiscard]] Nanos total_averaging(const Profile& profile);
// What a minibatch takes on one worker: forward, backward and update.
[[nodiscard]] Nanos total_time(const Profile& profile);
// What of it is fixed.
[[nodiscard]] Nanos total_fixed(const Profile& profile);
[[nodiscard]] Bytes total_weights(const Profile& profile);
// Over these.
[[nodiscard]] Bytes total_weights(const Profile& profile, std::span<const LayerId> layers);

}  // namespace pipedream::profile
