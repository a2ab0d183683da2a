#include "plan/smallest_larger.h"

namespace pipedream::plan {

double smallest_larger(const double* a, const double* b, std::size_t count, double best) {
  for (std::size_t i = 0; i < count; ++i) {
    const double larger = a[i] > b[i] ? a[i] : b[i];
    best = larger < best ? larger : best;
  }
  return best;
}

}  // namespace pipedream::plan
