// The profile of a model: what each layer costs for one minibatch on one device
// (docs/formats.md#profile).
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

// The largest number of samples of a minibatch that files may have.
inline constexpr std::int64_t kLargestBatch = std::int64_t{1} << 30;

// The cost of one layer for one minibatch.
struct LayerCost {
  Nanos forward{0};
  Nanos backward{0};
  Bytes weights;
  // Intermediate results that stay allocated from the layer's forward to its backward, not counting
  // its inputs and outputs.
  Bytes stash;
  // For each input of the layer, whether the layer's backward needs the value again. Empty if not
  // known; inputs then count as not kept. A value is held until the backward if its producer or any
  // consumer keeps it, and it counts once.
  std::vector<bool> keeps_input;
  // For each output of the layer, whether the layer's backward needs the value again. Empty if not
  // known; outputs then count as kept. For a chain of layers, this default holds the same values as
  // if each layer kept its input.
  std::vector<bool> keeps_output;
  Nanos update{0};  // one optimiser step over the layer's weights; 0 if not known
  // Time that one averaging of the layer's gradients with other replicas takes from the processor
  // that computes: copying gradients into buckets and summing them. 0 if other processors do that
  // work, or if not known.
  Nanos averaging{0};
  // Peak memory while the layer's backward runs: gradients of its inputs and outputs, and temporary
  // memory. Does not include what the layer kept from its forward, nor the gradients of its
  // weights. nullopt if not known.
  std::optional<Working> working{};
  // Peak memory while the layer's forward runs: what the layer keeps, its outputs, the inputs that
  // it does not keep, and temporary memory. 0 if not known; then `working` is the peak of both
  // passes.
  Working forward_working{};
  // The part of `forward` that does not depend on the number of samples, so that every microbatch
  // takes all of it (cost/compute.h). At most `forward`; 0 if not known.
  Nanos fixed_forward{0};
  // The part of `backward` that does not depend on the number of samples, so that every microbatch
  // takes all of it (cost/compute.h). At most `backward`; 0 if not known.
  Nanos fixed_backward{0};

  // Returns the time of a minibatch besides its forward. The cost rules count the update with the
  // backward, because a replica updates its weights once per minibatch's worth of its own compute
  // (docs/planner.md#the-cost-model).
  // If an update has several minibatches, each of them counts its part of the update.
  [[nodiscard]] Nanos backward_with_update(int minibatches = 1) const {
    return backward + update / minibatches;
  }
  // Returns all the time that the layer can take from one replica per minibatch.
  [[nodiscard]] Nanos longest() const { return forward + backward_with_update() + averaging; }
  friend bool operator==(const LayerCost&, const LayerCost&) = default;
};

// The graph of a model and the costs of its layers, with how they were measured. Invariant: `costs`
// has one entry per layer of `graph`, and the entries of input layers are zero.
struct Profile {
  std::string model;
  std::optional<std::int64_t> batch;  // samples of one minibatch; PipeDream's graph text lacks it
  std::string device;                 // "cpu", "cuda:0"; empty if not known
  std::string precision;              // "fp32", "bf16"; empty if not known
  std::optional<int> threads;         // intra-op threads; nullopt if not known
  // Workers of the machine that computed at the same time while the layers were measured; nullopt
  // means one.
  std::optional<int> workers;
  std::optional<int> passes;  // measured passes, whose medians the times are; nullopt if not known
  // How far the passes' times are apart: the tenth part that took longest is this much above the
  // tenth part that took shortest, as a share of the median. nullopt if not known.
  std::optional<double> spread;
  Nanos input{0};              // reading one minibatch from the data set; not part of any layer
  std::optional<Nanos> whole;  // forward, backward and update of the whole model, timed as one
  graph::Graph graph;
  std::vector<LayerCost> costs;

  [[nodiscard]] const LayerCost& cost(LayerId layer) const { return costs.at(layer.index()); }
};

// Limits on the sums over all layers of a model: of their times, and of the bytes of weights,
// values, stashes and working memory. Within these limits no sum over layers overflows, nor does a
// thousand times such a sum, for a thousand minibatches in flight.
inline constexpr Nanos kLongestInAll = std::chrono::seconds(1'000'000);
inline constexpr Bytes kLargestInAll{std::int64_t{1} << 53};

// Throws BadValue if the sums over all layers exceed `kLongestInAll` or `kLargestInAll`. Every
// function that reads a profile calls this.
void check_totals(const Profile& profile);

// Returns the bytes held from forward to backward of what `layer` computed: its stash, and the
// outputs that the layer itself or one of their consumers keeps. Outputs that are weights do not
// count.
[[nodiscard]] Bytes held_bytes(const Profile& profile, LayerId layer);

// Returns whether `working` is known for every layer that is not an input layer.
[[nodiscard]] bool knows_working(const Profile& profile);

// These return the sum of one cost over all layers.
[[nodiscard]] Nanos total_forward(const Profile& profile);
[[nodiscard]] Nanos total_backward(const Profile& profile);
[[nodiscard]] Nanos total_update(const Profile& profile);
[[nodiscard]] Nanos total_averaging(const Profile& profile);
// Returns the time of a minibatch on one worker: forward, backward and update of all layers.
[[nodiscard]] Nanos total_time(const Profile& profile);
// Whether the times of the passes differ so much that the speed of the machine was not steady. A
// profile without a spread says nothing. Nor does one of very short passes: they differ by what one
// interruption takes, on any machine.
[[nodiscard]] bool was_unsteady(const Profile& profile);
// Returns the part of total_time() that does not depend on the number of samples.
[[nodiscard]] Nanos total_fixed(const Profile& profile);
// Returns the bytes of the weights of all layers.
[[nodiscard]] Bytes total_weights(const Profile& profile);
// Returns the bytes of the weights of `layers`.
[[nodiscard]] Bytes total_weights(const Profile& profile, std::span<const LayerId> layers);

}  // namespace pipedream::profile
