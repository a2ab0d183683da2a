// The three cost models, which combine compute and communication into the time of a stage
// (docs/planner.md#the-cost-model). `default` is the model of this project: predictions, simulator
// and reports use it. `paper` and `published` are what PipeDream's own planners assume, kept for
// comparison.
#pragma once

#include <string>
#include <vector>

#include "core/units.h"

namespace pipedream::cost {

enum class CostModel { kDefault, kPaper, kPublished };

[[nodiscard]] const std::vector<std::string>&
cost_model_names();  // in the order of the enumerators

// One step of the hierarchical planner's recurrence: times on one level of the cluster, in seconds.
// A stage is on m components of the level. Each component alone runs the stage's layers in `inner`
// seconds. W is the bytes of the stage's weights, a the bytes that cross a cut, B the bandwidth.
//
//             a stage on m components                      a cut of a bytes before it
//   default   max(inner, 2(m−1)/m·W / B) / m               a / B: both directions at once
//   paper     max(inner, 2(m−1)·W / B) / m                 2a / B
//   published (inner + 4(m−1)/m·W / B [/ Q if first]) / m  2a / (B·m), also for the cut after it
struct Recurrence {
  CostModel cost_model = CostModel::kDefault;
  double bandwidth = 1;  // bytes per second
  int inner_count = 1;   // Q: components that the level below joins into one; 1 at level 0

  // Returns the time per minibatch of a stage on `m` components. `first` is true if the stage is
  // the first one inside the component that holds these `m`.
  [[nodiscard]] double stage(double inner, double weights, int m, bool first) const {
    const double others = m - 1;
    switch (cost_model) {
      case CostModel::kDefault:
        return larger(inner, 2 * others / m * weights / bandwidth) / m;
      case CostModel::kPaper:
        return larger(inner, 2 * others * weights / bandwidth) / m;
      case CostModel::kPublished:
        return (inner + 4 * others * weights / (bandwidth * m) / (first ? inner_count : 1)) / m;
    }
    return inner;
  }

  // Returns the time per minibatch of the `bytes` that cross the cut before a stage on `m`
  // components.
  [[nodiscard]] double cut_before(double bytes, int m) const {
    switch (cost_model) {
      case CostModel::kDefault:
        return bytes / bandwidth;
      case CostModel::kPaper:
        return 2 * bytes / bandwidth;
      case CostModel::kPublished:
        return 2 * bytes / (bandwidth * m);
    }
    return 0;
  }

  // Returns the time per minibatch that a stage on `m` components pays for the `bytes` that cross
  // the cut after it: 0 except for `published`.
  [[nodiscard]] double cut_after(double bytes, int m) const {
    return cost_model == CostModel::kPublished ? cut_before(bytes, m) : 0;
  }

 private:
  [[nodiscard]] static double larger(double a, double b) { return a > b ? a : b; }
};

}  // namespace pipedream::cost
