#include "train/scoring.h"

#include <algorithm>

#include "runtime/pace.h"
#include "runtime/results.h"
#include "schedule/evaluation.h"
#include "train/course.h"
#include "train/item_feed.h"

namespace pipedream::train {

std::int64_t evaluated_samples(const data::DataSet& data, const model::Network& network,
                               std::int64_t wanted) {
  const std::int64_t samples = std::min(wanted, data.samples());
  if (!network.has_fixed_batch) return samples;
  return std::max(network.batch, samples / network.batch * network.batch);
}

runtime::Score score_on(const ScoredData& scored, const runtime::Job& job, runtime::Worker& worker,
                        transport::Transport& control,
                        const std::function<void(std::int64_t done, std::int64_t all)>& progress) {
  const data::Batches batches(scored.samples, scored.batch, job.seed, /*shuffle=*/false);
  const std::int64_t all = batches.per_epoch();
  const std::int64_t step = plan::worker_count(job.plan);
  runtime::Pace pace(control, job.patience);
  for (std::int64_t first = 0; first < all; first += step) {
    if (first > 0) pace.next();
    const std::int64_t count = std::min(step, all - first);
    const schedule::Extent extent =
        extent_of(batches, scored.batch, job.plan.microbatches, first + count - 1, count);
    const schedule::Schedule schedule = schedule::evaluation(job.plan, extent, job.replicas);
    const ItemFeed feed(scored.data, batches, extent, first);
    worker.run({schedule, extent, feed, first});
    if (worker.id() == WorkerId{0}) progress(first + count, all);
  }
  pace.finish();
  return runtime::sum_scores(worker.score(), control, job.patience);
}

}  // namespace pipedream::train
