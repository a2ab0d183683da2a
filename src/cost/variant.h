// The three named sets of rules by which a stage's time is put together from compute and
// communication. `default` is the model of this project: predictions, simulator and reports use
// it. `paper` and `published` are what PipeDream's own planners assume, kept for comparison.
#pragma once

#include <string>
#include <vector>

#include "core/units.h"

namespace pipedream::cost {

enum class Variant { kDefault, kPaper, kPublished };

[[nodiscard]] const std::vector<std::string>& variant_names();  // in the order of the enumerators

// The recurrence of the hierarchical planner, one level at a time: m components of a level whose
// link has `bandwidth`, each of which runs the layers in `inner` seconds by itself.
//
//             a stage on m components                      a cut of a bytes before it
//   default   max(inner, 2(m−1)/m·W / B) / m               a / B: both directions at once
//   paper     max(inner, 2(m−1)·W / B) / m                 2a / B
//   published (inner + 4(m−1)/m·W / B [/ Q if first]) / m  2a / (B·m), and so for the cut after it
struct Recurrence {
  Variant variant = Variant::kDefault;
  double bandwidth = 1;  // bytes per second
  int inner_count = 1;   // Q: components of the level below in one of this level; 1 at the first

  [[nodiscard]] double stage(double inner, double weights, int m, bool first) const {
    const double others = m - 1;
    switch (variant) {
      case Variant::kDefault:
        return larger(inner, 2 * others / m * weights / bandwidth) / m;
      case Variant::kPaper:
        return larger(inner, 2 * others * weights / bandwidth) / m;
      case Variant::kPublished:
        return (inner + 4 * others * weights / (bandwidth * m) / (first ? inner_count : 1)) / m;
    }
    return inner;
  }

  [[nodiscard]] double cut_before(double bytes, int m) const {
    switch (variant) {
      case Variant::kDefault:
        return bytes / bandwidth;
      case Variant::kPaper:
        return 2 * bytes / bandwidth;
      case Variant::kPublished:
        return 2 * bytes / (bandwidth * m);
    }
    return 0;
  }

  // Only `published` charges a stage for the cut after it as well.
  [[nodiscard]] double cut_after(double bytes, int m) const {
    return variant == Variant::kPublished ? cut_before(bytes, m) : 0;
  }

 private:
  [[nodiscard]] static double larger(double a, double b) { return a > b ? a : b; }
};

}  // namespace pipedream::cost
