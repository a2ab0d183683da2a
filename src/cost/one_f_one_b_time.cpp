#include "cost/one_f_one_b_time.h"

#include <algorithm>

#include "cost/pipeline.h"

namespace pipedream::cost {
namespace {

// Raises `period` to the limits of the loops from each stage to the last one.
void raise_to_outer_loops(const PipelineCosts& costs, Period& period) {
  const std::size_t count = costs.stages.size();
  const double items = costs.items;
  std::vector<Seconds> forth(count), back(count);
  for (std::size_t s = count; s-- > 0;) {
    for (const TransferCosts& transfer : costs.transfers) {
      if (transfer.from != s) continue;
      forth[s] = std::max(forth[s], transfer.item + forth[transfer.to]);
      back[s] = std::max(back[s], transfer.item + back[transfer.to]);
    }
    const StageCosts& stage = costs.stages[s];
    forth[s] += stage.forward / items;
    back[s] += stage.backward / items;
    period.raise(loop_limit(forth[s] + back[s], stage.replicas, stage.depth) * items, Limit::kLoop,
                 s);
  }
}

// Raises `period` to the limits of the loops from each stage to each later stage but the last.
void raise_to_inner_loops(const PipelineCosts& costs, Period& period) {
  const std::size_t count = costs.stages.size();
  const double items = costs.items;
  std::vector<Seconds> next(count);  // the longest transfer from each stage to the next one
  for (const TransferCosts& transfer : costs.transfers)
    if (transfer.to == transfer.from + 1)
      next[transfer.from] = std::max(next[transfer.from], transfer.item);
  for (std::size_t i = 0; i + 2 < count; ++i) {
    const StageCosts& from = costs.stages[i];
    Seconds way = from.compute() / items;
    for (std::size_t j = i + 1; j + 1 < count; ++j) {
      const StageCosts& to = costs.stages[j];
      way += 2 * next[j - 1] + to.compute() / items;
      const int span = from.replicas * from.depth - to.replicas * (to.depth - 1);
      if (span > 0) period.raise(way / span * items, Limit::kLoop, i);
    }
  }
}

}  // namespace

void raise_to_busiest(const PipelineCosts& costs, Period& period) {
  for (std::size_t s = 0; s < costs.stages.size(); ++s)
    period.raise(costs.stages[s].compute() / costs.stages[s].replicas, Limit::kCompute, s);
  for (std::size_t s = 0; s < costs.stages.size(); ++s)
    period.raise(costs.stages[s].averaging / costs.stages[s].replicas, Limit::kExchange, s);
  period.raise(costs.busiest_link, Limit::kLink);
}

void raise_to_loops(const PipelineCosts& costs, Period& period) {
  raise_to_outer_loops(costs, period);
  raise_to_inner_loops(costs, period);
}

Period one_f_one_b_time(const PipelineCosts& costs) {
  Period period;
  raise_to_busiest(costs, period);
  raise_to_loops(costs, period);
  return period;
}

}  // namespace pipedream::cost
