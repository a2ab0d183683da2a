#include "simulate/averagings.h"

#include <algorithm>

#include "simulate/durations.h"

namespace pipedream::simulate {

std::vector<Nanos> release_times(const std::vector<cost::Bucket>& buckets, Nanos begin,
                                 Nanos duration) {
  std::vector<Nanos> times;
  for (const cost::Bucket& bucket : buckets)
    times.push_back(begin + from_seconds(to_seconds(duration) * bucket.released));
  return times;
}

Averagings::Averagings(const schedule::Routes& routes, const profile::Profile& profile,
                       const cost::Links& links, cost::Exchange exchange, bool asynchronous,
                       Lanes& lanes)
    : routes_(routes), lanes_(lanes), groups_(routes.plan().stages.size()) {
  for (std::size_t s = 0; s < groups_.size(); ++s) {
    const plan::Stage& stage = routes.plan().stages[s];
    if (stage.workers.size() < 2 || asynchronous) continue;
    Group& group = groups_[s];
    for (const auto& uses : cost::exchange_uses(links, stage.workers, exchange))
      group.paths.push_back(lanes.path(uses));
    group.buckets = cost::buckets(profile, stage.layers,
                                  item_share(routes, profile, id_at<StageId>(s)).on_replica(0),
                                  routes.plan().accumulate);
    group.lane = lanes.add(cost::exchange_latency(links, stage.workers, exchange), true);
    stage_of_.resize(group.lane + 1);
    stage_of_[group.lane] = id_at<StageId>(s);
  }
}

std::size_t Averagings::index_of(Fifo<GroupAveraging>& averagings, WeightVersion update) {
  std::size_t i = 0;
  while (i < averagings.size() && averagings[i].update != update) ++i;
  return i;
}

void Averagings::join(StageId stage, WeightVersion update, Nanos begin, Nanos duration, Nanos now) {
  Group& group = groups_[stage.index()];
  const std::size_t i = index_of(group.averagings, update);
  if (i == group.averagings.size())
    group.averagings.push({.update = update, .ready = std::vector<Nanos>(group.buckets.size())});
  GroupAveraging& averaging = group.averagings[i];
  const std::vector<Nanos> released = release_times(group.buckets, begin, duration);
  for (std::size_t b = 0; b < released.size(); ++b)
    averaging.ready[b] = std::max(averaging.ready[b], released[b]);
  if (++averaging.members < routes_.replicas(stage)) return;
  for (std::size_t b = 0; b < released.size(); ++b)
    lanes_.push(group.lane, now, averaging.ready[b],
                static_cast<double>(group.buckets[b].weights.count), group.paths);
}

std::optional<Averagings::Done> Averagings::bucket_averaged(const Lanes::Finished& job) {
  const StageId stage = *stage_of_[job.lane];
  Group& group = groups_[stage.index()];
  std::size_t i = 0;
  while (group.averagings[i].done) ++i;
  GroupAveraging& averaging = group.averagings[i];
  if (averaging.buckets_done == 0) averaging.began = job.started;
  if (++averaging.buckets_done < group.buckets.size()) return std::nullopt;
  averaging.done = true;
  return Done{stage, averaging.update, averaging.began};
}

std::optional<Nanos> Averagings::take(StageId stage, WeightVersion update) {
  Fifo<GroupAveraging>& averagings = groups_[stage.index()].averagings;
  const std::size_t i = index_of(averagings, update);
  if (i == averagings.size() || !averagings[i].done) return std::nullopt;
  const Nanos ready = averagings[i].ready.back();
  if (++averagings[i].taken == routes_.replicas(stage)) averagings.remove(i);
  return ready;
}

}  // namespace pipedream::simulate
