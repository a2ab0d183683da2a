// Where a network can be cut into stages (docs/planner.md#the-planners). A cut is a down-set: a set
// of layers that holds, with each layer, all layers it depends on. A stage is the difference of two
// cuts, if one contains the other.
//
//        ┌▶ b ─┐      cuts: {} {a} {a,b} {a,c} {a,b,c} {a,b,c,d}
//     a ─┤     ├▶ d   {a,b} and {a,c} are not comparable, all other pairs are
//        └▶ c ─┘
//
// A chain of n layers has n + 1 cuts. A wide network has too many down-sets. Then the cuts are the
// prefixes of one order of the layers, chosen so that few bytes cross them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ids.h"
#include "core/units.h"
#include "cost/memory.h"
#include "profile/profile.h"

namespace pipedream::plan {

// The most down-sets that are all cuts. In a network with more, only one order of the layers is
// cut.
inline constexpr std::size_t kMostDownSets = 512;

// The cuts of one network, and the costs of the stages between them: all that planners see of the
// network. Cuts are numbered from 0 (no layer) to last() (every layer). A cut has a lower number
// than every cut that contains it. Input layers are in no stage. Keeps a reference to the profile,
// which must outlive it. Immutable, so any thread may use it.
class Cuts {
 public:
  // The cuts are all down-sets of the network's units (plan/units.h). If there are more than
  // `most`, they are the prefixes of one order of the units.
  explicit Cuts(const profile::Profile& profile, std::size_t most = kMostDownSets);
  // Returns the cuts with every layer as a unit of its own: all down-sets of layers or, if there
  // are more than `most`, the prefixes of one order.
  [[nodiscard]] static Cuts of_single_layers(const profile::Profile& profile,
                                             std::size_t most = kMostDownSets);
  // Returns the prefixes of the layers in the order of the profile's graph, for planners that
  // consider no other order. Every layer is a unit of its own.
  [[nodiscard]] static Cuts in_declared_order(const profile::Profile& profile);
  // Returns the same cuts for plans whose updates have `minibatches` minibatches each
  // (Plan::accumulate): backward() and averaging() count the part of one minibatch of the update
  // and of its averaging.
  [[nodiscard]] Cuts accumulating(int minibatches) const;

  [[nodiscard]] std::size_t count() const { return forward_.size(); }
  [[nodiscard]] std::size_t last() const { return count() - 1; }
  // Returns the number of minibatches of an update: 1, or the argument of accumulating().
  [[nodiscard]] int accumulate() const { return accumulate_; }
  // Returns the number of units: layers, or groups of layers, that are never cut apart.
  [[nodiscard]] std::size_t unit_count() const { return units_.size(); }
  // Returns whether every down-set of units is a cut here. If not, the best plan over these cuts is
  // only the best for one order of the layers.
  [[nodiscard]] bool complete() const { return complete_; }
  // Returns whether some unit has several layers.
  [[nodiscard]] bool merged() const { return merged_; }
  // Returns whether the cuts are the prefixes of one order. Then of any two cuts one contains the
  // other, and cut k has the first k units.
  [[nodiscard]] bool in_line() const { return in_line_; }
  // Returns whether cut `b` strictly contains cut `a`, so that there is a stage from `a` to `b`.
  [[nodiscard]] bool precedes(std::size_t a, std::size_t b) const {
    return in_line_ ? a < b : inside_[a * count() + b] != 0;
  }
  [[nodiscard]] const profile::Profile& profile() const { return profile_; }

  // These return times of the stage from cut `a` to cut `b` for one minibatch on a device of speed
  // 1, in seconds. The backward includes its part of the update. Require that `a` precedes `b`, as
  // do all functions with two cuts below.
  [[nodiscard]] double forward(std::size_t a, std::size_t b) const {
    return (forward_[b] - forward_[a]) / kNanosPerSecond;
  }
  [[nodiscard]] double backward(std::size_t a, std::size_t b) const {
    return (backward_[b] - backward_[a]) / kNanosPerSecond;
  }
  [[nodiscard]] double compute(std::size_t a, std::size_t b) const {
    return (forward_[b] - forward_[a] + backward_[b] - backward_[a]) / kNanosPerSecond;
  }
  // These return the part of forward() and backward() that does not depend on the number of samples
  // (cost/compute.h), in seconds.
  [[nodiscard]] double fixed_forward(std::size_t a, std::size_t b) const {
    return (fixed_forward_[b] - fixed_forward_[a]) / kNanosPerSecond;
  }
  [[nodiscard]] double fixed_backward(std::size_t a, std::size_t b) const {
    return (fixed_backward_[b] - fixed_backward_[a]) / kNanosPerSecond;
  }
  // Returns the processor time of averaging the stage's gradients, which a stage with replicas
  // needs besides its compute, in seconds.
  [[nodiscard]] double averaging(std::size_t a, std::size_t b) const {
    return (averaging_[b] - averaging_[a]) / kNanosPerSecond;
  }
  // Returns the bytes of the stage's weights.
  [[nodiscard]] double weights(std::size_t a, std::size_t b) const {
    return weights_[b] - weights_[a];
  }
  [[nodiscard]] cost::StageSize size(std::size_t a, std::size_t b) const;
  [[nodiscard]] std::vector<LayerId> layers(std::size_t a, std::size_t b) const;
  // Returns the bytes of all values that cross the cut. Each value counts once.
  [[nodiscard]] double crossing(std::size_t cut) const { return crossing_bytes_[cut]; }

  // What one stage sends to another per minibatch.
  struct Flow {
    std::size_t from;  // number of a stage
    std::size_t to;    // number of a later stage
    double bytes;      // each value counts once
  };
  // Returns what the stages between consecutive cuts of `ends` (0, …, last()) send each other, with
  // one Flow for each pair of stages that do. A value goes from the stage that computes it to every
  // stage that uses it.
  [[nodiscard]] std::vector<Flow> flows(std::span<const std::size_t> ends) const;

 private:
  using Units = std::vector<std::vector<LayerId>>;
  struct Crossing {                      // a value that passes from one unit to others
    std::size_t producer;                // index into units_
    std::vector<std::size_t> consumers;  // indices into units_, ascending
    double bytes;
  };

  Cuts(const profile::Profile& profile, Units units, std::size_t most);
  [[nodiscard]] bool contains(std::size_t cut, std::size_t unit) const {
    return in_line_ ? unit < cut : members_[cut * units_.size() + unit] != 0;
  }
  void link_units();
  [[nodiscard]] bool is_chain() const;
  bool enumerate(std::size_t most);
  void take_prefixes();
  void sum_up();
  void find_crossing();
  void find_working();
  void find_layers();
  [[nodiscard]] double working(std::size_t a, std::size_t b) const;
  [[nodiscard]] double received(std::size_t a, std::size_t b) const;
  [[nodiscard]] std::vector<cost::LayerSize> layer_sizes(std::size_t a, std::size_t b) const;

  const profile::Profile& profile_;
  Units units_;  // layers that are never cut apart, producers first
  std::vector<Crossing> values_;
  std::vector<std::vector<std::size_t>> needs_;  // by unit: units that it depends on directly
  bool in_line_ = true;                          // the cuts are the prefixes of units_
  bool complete_ = true;
  bool merged_ = false;
  int accumulate_ = 1;
  // members_[cut · units + unit]: whether the cut contains the unit. Empty if in_line_.
  std::vector<unsigned char> members_;
  // inside_[a · count + b]: whether cut b strictly contains cut a. Empty if in_line_.
  std::vector<unsigned char> inside_;
  // below_[cut] has every pair (smaller cut, unit) such that the smaller cut and the unit together
  // are `cut`. Empty if in_line_.
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> below_;
  // forward_ to held_, by cut: sums over all layers of the cut, in whole nanoseconds and bytes, so
  // that differences are exact.
  static constexpr double kNanosPerSecond = 1e9;
  std::vector<double> forward_, backward_, fixed_forward_, fixed_backward_, averaging_, weights_,
      held_;
  std::vector<std::vector<std::size_t>> crossing_;  // by cut: indices into values_
  std::vector<double> crossing_bytes_;              // by cut
  // The bytes of the inputs and outputs of the layer that has most of them. If in_line_,
  // working_[p][i] is for the 2^p units from unit i on; else working_[a][b] is for the stage from
  // cut a to cut b.
  std::vector<std::vector<double>> working_;
  // By unit: its layers with their positions in the graph's order. Empty if the profile does not
  // say how much memory each layer works with.
  using Placed = std::pair<std::size_t, cost::LayerSize>;
  std::vector<std::vector<Placed>> layers_;
};

// Returns `units` in an order, producers first, in which few bytes cross the prefixes: the given
// order or a greedy one, whichever has the smaller sum over all prefixes. Requires `units` in an
// order with producers first.
[[nodiscard]] std::vector<std::vector<LayerId>> narrow_order(
    const graph::Graph& graph, const std::vector<std::vector<LayerId>>& units);

}  // namespace pipedream::plan
