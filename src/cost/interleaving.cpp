#include "cost/interleaving.h"

#include <algorithm>

namespace pipedream::cost {

Interleaving::Turn Interleaving::turn(int k) const {
  const int first = first_group();
  if (k < first * chunks) return {k / first, k % first};
  const int group = (k - first * chunks) / (workers * chunks);
  const int inside = (k - first * chunks) % (workers * chunks);
  return {inside / workers, first + group * workers + inside % workers};
}

int Interleaving::warm_up(int worker) const {
  const int wanted = chunks == 1 ? workers - worker
                                 : 2 * (workers - worker - 1) + (chunks - 1) * first_group() + 1;
  return std::min(wanted, items * chunks);
}

std::vector<int> Interleaving::in_flight() const {
  std::vector<int> most(static_cast<std::size_t>(workers * chunks));
  const int all = items * chunks;
  for (int w = 0; w < workers; ++w) {
    std::vector<int> now(static_cast<std::size_t>(chunks));
    const int ahead = warm_up(w);
    for (int k = 0; k < all; ++k) {
      if (k >= ahead) --now[static_cast<std::size_t>(chunks - 1 - turn(k - ahead).chunk)];
      const auto chunk = static_cast<std::size_t>(turn(k).chunk);
      int& peak = most[chunk * static_cast<std::size_t>(workers) + static_cast<std::size_t>(w)];
      peak = std::max(peak, ++now[chunk]);
    }
  }
  return most;
}

}  // namespace pipedream::cost
