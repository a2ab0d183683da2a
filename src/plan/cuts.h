// Where a network can be cut into stages. A cut is a down-set: layers that, with each layer, hold
// all it depends on. A stage is what lies between two cuts of which one contains the other.
//
//        ┌▶ b ─┐      cuts: {} {a} {a,b} {a,c} {a,b,c} {a,b,c,d}
//     a ─┤     ├▶ d   {a,b} and {a,c} are not comparable, all other pairs are
//        └▶ c ─┘
//
// A chain of n layers has n+1 cuts. A wide network has too many: then the cuts are the prefixes of
// one order of the layers, chosen so that little crosses them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ids.h"
#include "core/units.h"
#include "cost/memory.h"
#include "profile/profile.h"

namespace pipedream::plan {

inline constexpr std::size_t kMostDownSets = 512;

// Immutable. Cuts are numbered from 0 (nothing) to last() (every layer); a cut has a lower number
// than those that contain it. Input layers lie in no stage. Keeps a reference to the profile.
class Cuts {
 public:
  // All down-sets of the network's units (plan/units.h); where there are more than `most`, the
  // prefixes of one order.
  explicit Cuts(const profile::Profile& profile, std::size_t most = kMostDownSets);
  // The same with every layer as a unit of its own.
  [[nodiscard]] static Cuts of_single_layers(const profile::Profile& profile,
                                             std::size_t most = kMostDownSets);
  // The prefixes of the layers in the order of the profile, for planners that know no other.
  [[nodiscard]] static Cuts in_declared_order(const profile::Profile& profile);

  [[nodiscard]] std::size_t count() const { return forward_.size(); }
  [[nodiscard]] std::size_t last() const { return count() - 1; }
  // Between two neighbouring cuts of a chain lies one unit.
  [[nodiscard]] std::size_t unit_count() const { return units_.size(); }
  // Whether every down-set is a cut here; else what is found is best for this order only.
  [[nodiscard]] bool complete() const { return complete_; }
  // Whether some unit has several layers.
  [[nodiscard]] bool merged() const { return merged_; }
  // Whether the cuts are prefixes of one order, so that all of them are comparable.
  [[nodiscard]] bool in_line() const { return in_line_; }
  // Whether `a` lies strictly inside `b`, so that a stage fits between.
  [[nodiscard]] bool precedes(std::size_t a, std::size_t b) const {
    return in_line_ ? a < b : inside_[a * count() + b] != 0;
  }
  [[nodiscard]] const profile::Profile& profile() const { return profile_; }

  // Of the stage from cut `a` to cut `b`; a precedes b. One minibatch, a device of speed 1.
  [[nodiscard]] double forward(std::size_t a, std::size_t b) const {
    return (forward_[b] - forward_[a]) / kNanosPerSecond;
  }
  [[nodiscard]] double backward(std::size_t a, std::size_t b) const {
    return (backward_[b] - backward_[a]) / kNanosPerSecond;
  }
  [[nodiscard]] double compute(std::size_t a, std::size_t b) const {
    return (forward_[b] - forward_[a] + backward_[b] - backward_[a]) / kNanosPerSecond;
  }
  // What of that is fixed (cost/compute.h).
  [[nodiscard]] double fixed_forward(std::size_t a, std::size_t b) const {
    return (fixed_forward_[b] - fixed_forward_[a]) / kNanosPerSecond;
  }
  [[nodiscard]] double fixed_backward(std::size_t a, std::size_t b) const {
    return (fixed_backward_[b] - fixed_backward_[a]) / kNanosPerSecond;
  }
  // What averaging takes of the processor in addition, where the stage has replicas.
  [[nodiscard]] double averaging(std::size_t a, std::size_t b) const {
    return (averaging_[b] - averaging_[a]) / kNanosPerSecond;
  }
  [[nodiscard]] double weights(std::size_t a, std::size_t b) const {
    return weights_[b] - weights_[a];
  }
  [[nodiscard]] cost::StageSize size(std::size_t a, std::size_t b) const;
  [[nodiscard]] std::vector<LayerId> layers(std::size_t a, std::size_t b) const;
  // The bytes of the values that cross the cut, each once.
  [[nodiscard]] double crossing(std::size_t cut) const { return crossing_bytes_[cut]; }

  // What the stages between consecutive cuts of `ends` (0, …, last) send each other: bytes, once
  // per value and receiving stage.
  struct Flow {
    std::size_t from;
    std::size_t to;
    double bytes;
  };
  [[nodiscard]] std::vector<Flow> flows(std::span<const std::size_t> ends) const;

 private:
  using Units = std::vector<std::vector<LayerId>>;
  struct Crossing {  // a value that passes from unit to unit, by their numbers
    std::size_t producer;
    std::vector<std::size_t> consumers;
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
  Units units_;  // that are never cut apart, producers first
  std::vector<Crossing> values_;
  std::vector<std::vector<std::size_t>> needs_;  // units that a unit depends on directly
  bool in_line_ = true;                          // the cuts are the prefixes of units_
  bool complete_ = true;
  bool merged_ = false;
  std::vector<unsigned char> members_;  // count × units, unless in line
  std::vector<unsigned char> inside_;   // count × count, unless in line
  // A cut that lacks one unit, and that unit; per cut, unless in line.
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> below_;
  // Of all layers of a cut: whole nanoseconds and bytes, so that differences are exact.
  static constexpr double kNanosPerSecond = 1e9;
  std::vector<double> forward_, backward_, fixed_forward_, fixed_backward_, averaging_, weights_,
      held_;
  std::vector<std::vector<std::size_t>> crossing_;  // per cut, indices into values_
  std::vector<double> crossing_bytes_;
  std::vector<std::vector<double>> working_;  // in line: by power of two; else one row per cut
  // Of each unit, layers and their places in the graph's order; empty where not known.
  using Placed = std::pair<std::size_t, cost::LayerSize>;
  std::vector<std::vector<Placed>> layers_;
};

// The same units in an order, producers first, chosen so that few bytes cross its prefixes: of the
// given order and a greedy one the better.
[[nodiscard]] std::vector<std::vector<LayerId>> narrow_order(
    const graph::Graph& graph, const std::vector<std::vector<LayerId>>& units);

}  // namespace pipedream::plan
