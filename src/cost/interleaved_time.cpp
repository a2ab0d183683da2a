#include "cost/interleaved_time.h"

#include <algorithm>

#include "cost/pipeline.h"

namespace pipedream::cost {

Period interleaved_time(const PipelineCosts& costs) {
  const double items = costs.items;
  const auto workers = static_cast<std::size_t>(costs.workers);
  std::vector<Seconds> busy(workers);
  Seconds way{0};   // time of one item through all stages, forth and back
  Seconds fill{0};  // time of one item through the first stages of all workers but one
  for (std::size_t s = 0; s < costs.stages.size(); ++s) {
    const Seconds compute = costs.stages[s].compute();
    busy[s % workers] += compute;
    way += compute / items;
    if (s + 1 < workers) fill += compute / items;
  }
  for (const TransferCosts& transfer : costs.transfers) {
    if (transfer.to != transfer.from + 1) continue;
    way += 2 * transfer.item;
    if (transfer.to < workers) fill += 2 * transfer.item;
  }
  // All minibatches of an update pass the pipeline without a flush in between.
  const int accumulate = costs.accumulate;
  Seconds busiest = *std::max_element(busy.begin(), busy.end());
  const int depth = costs.stages.front().depth;
  if (depth < costs.items * accumulate)
    busiest = std::max(busiest, loop_limit(way, 1, depth) * items);
  Period period{std::max(accumulate * busiest + fill, way) / accumulate, Limit::kLatency};
  period.raise(costs.busiest_link, Limit::kLink);
  return period;
}

}  // namespace pipedream::cost
