#include "plan/interleaved.h"

#include <algorithm>

#include "plan/balance.h"

namespace pipedream::plan {

Outcome plan_interleaved(const Cuts& cuts, const cluster::Cluster& cluster,
                         const Conditions& conditions) {
  const int layers = static_cast<int>(cuts.unit_count());
  const int workers = std::clamp(layers / 2, 1, cluster.workers());
  const int fewest = workers == 1 ? 1 : 2;
  const int most = workers == 1 ? 1 : std::min(kMostChunks, layers / workers);
  std::optional<std::pair<Layout, Prediction>> best;
  for (const Recompute recompute : {Recompute::kNever, Recompute::kAlways}) {
    if (conditions.recompute == Recompute::kNever && recompute == Recompute::kAlways) continue;
    Conditions tried = conditions;
    tried.recompute = recompute;
    const Predictor predictor(cuts, cluster, tried);
    for (int chunks = fewest; chunks <= most; ++chunks) {
      Layout layout;
      layout.ends = balanced_ends(predictor, Balance::kTime, workers * chunks);
      for (int s = 0; s < workers * chunks; ++s) layout.workers.push_back({WorkerId{s % workers}});
      Prediction prediction = predictor.predict(layout);
      if (!best || rank(prediction) < rank(best->second))
        best.emplace(std::move(layout), std::move(prediction));
    }
  }
  if (best->second.miss) return out_of_memory(*best->second.miss);
  const Seconds time = best->second.per_minibatch;
  return Answer{std::move(best->first), std::move(best->second), time, {}};
}

}  // namespace pipedream::plan
