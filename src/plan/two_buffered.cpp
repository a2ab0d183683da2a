#include "plan/two_buffered.h"

#include "plan/balance.h"
#include "plan/kept.h"
#include "plan/search.h"

namespace pipedream::plan {
namespace {

// The most workers for which every width is tried. On larger clusters, only widths that divide the
// number of workers and the largest one are.
constexpr int kMostForEveryWidth = 64;

// Returns `copies` pipelines on equal parts of the cluster, in which every stage has `replicas`
// replicas.
Draft equal_pipelines(const std::vector<std::size_t>& ends, int copies, int replicas) {
  Draft draft{copies, {}};
  for (std::size_t s = 1; s < ends.size(); ++s) draft.stages.push_back({ends[s], replicas});
  return draft;
}

}  // namespace

Candidates plan_two_buffered(const Cuts& cuts, const cluster::Cluster& cluster,
                             const Setting& setting) {
  Kept kept;
  std::optional<Seconds> fastest;
  std::optional<MemoryMiss> nearest;
  const int workers = cluster.workers();
  const std::int64_t most_microbatches =
      setting.microbatches.value_or(cuts.profile().batch.value_or(INT32_MAX));
  for (const Recompute recompute : {Recompute::kNever, Recompute::kAlways}) {
    if (setting.recompute != Recompute::kWhereNeeded && setting.recompute != recompute) continue;
    Setting tried = setting;
    tried.recompute = recompute;
    const Predictor predictor(cuts, cluster, tried);
    for (int depth = 1; depth <= std::min(workers, static_cast<int>(cuts.unit_count())); ++depth) {
      if (most_microbatches <
          cost::fewest_microbatches(setting.rules.traits, depth, cuts.accumulate()))
        break;
      const auto ends = balanced_ends(predictor, Balance::kTime, depth);
      const auto offer = [&](const Draft& draft) {
        const Layout layout = place(draft, predictor.links());
        const Prediction prediction = predictor.predict(layout);
        kept.offer(layout, prediction);
        if (!prediction.miss)
          fastest = std::min(fastest.value_or(prediction.per_minibatch), prediction.per_minibatch);
        else if (!nearest || prediction.miss->bytes < nearest->bytes)
          nearest = prediction.miss;
      };
      const int widest = workers / depth;
      for (int width = 1; width <= widest; ++width) {
        const bool few = workers <= kMostForEveryWidth || width == widest || workers % width == 0;
        if (!few) continue;
        offer(equal_pipelines(ends, width, 1));
        if (width > 1) offer(equal_pipelines(ends, 1, width));
      }
    }
  }
  if (!fastest) return out_of_memory(*nearest);
  // On larger clusters some widths were left out: nothing is proved there.
  return kept.answers(workers <= kMostForEveryWidth ? fastest : std::nullopt);
}

}  // namespace pipedream::plan
