#include "cost/one_f_one_b_time.h"

#include <algorithm>

#include "cost/overlapped_averaging.h"
#include "cost/pipeline.h"

namespace pipedream::cost {
namespace {

// Raises `period` to the limits of the loops from each stage to the last one.
void raise_to_outer_loops(const PipelineCosts& costs, Period& period) {
  const std::vector<Seconds> ways = ways_of_item(costs);
  for (std::size_t s = ways.size(); s-- > 0;) {
    const StageCosts& stage = costs.stages[s];
    period.raise(loop_limit(ways[s], stage.replicas, stage.depth) * costs.items, Limit::kLoop, s);
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

// Returns the time from one update of stage `s` to the next, if averaging decides it. An averaging
// begins in the backward of its update's last round, and overlaps one round of the next update. The
// others come after it. Only where buckets are known, so is how much of that backward it overlaps.
Seconds update_time(const PipelineCosts& costs, std::size_t s) {
  const StageCosts& stage = costs.stages[s];
  const Seconds last = costs.buckets.empty() || stage.replicas == 1
                           ? stage.compute() + stage.averaging
                           : step_with_averaging(costs, {stage.forward, stage.backward});
  return (costs.accumulate - 2) * stage.compute() + last;
}

// Returns how long a stage idles at the beginning and at the end of a run, if it never waits in
// between: until the first item reaches it and after the last has left it; after its first
// forwards, until the first item is back; and after its last forward, between the backwards that
// remain.
Seconds idle_at_ends(const PipelineCosts& costs, const std::vector<Seconds>& ways, std::size_t s) {
  const StageCosts& stage = costs.stages[s];
  const Seconds away = ways[s] - stage.compute() / costs.items;
  const double others = (stage.depth - 1.0) / costs.items;
  return ways.front() - ways[s] + std::max(Seconds(0), away - others * stage.forward) +
         std::max(Seconds(0), away - others * stage.backward);
}

// Whether `time` is within 1 % of the period. Such a stage is as good as the slowest: its drain
// counts, too.
bool is_about(Seconds time, Seconds period) {
  constexpr double kAbout = 0.99;
  return time >= kAbout * period;
}

}  // namespace

void raise_to_busiest(const PipelineCosts& costs, Period& period) {
  for (std::size_t s = 0; s < costs.stages.size(); ++s)
    period.raise(costs.stages[s].compute() / costs.stages[s].replicas, Limit::kCompute, s);
  for (std::size_t s = 0; s < costs.stages.size(); ++s)
    period.raise(costs.stages[s].averaging / (costs.accumulate * costs.stages[s].replicas),
                 Limit::kExchange, s);
  period.raise(costs.busiest_link, Limit::kLink);
}

void raise_to_loops(const PipelineCosts& costs, Period& period) {
  raise_to_outer_loops(costs, period);
  raise_to_inner_loops(costs, period);
}

std::vector<Seconds> ways_of_item(const PipelineCosts& costs) {
  const std::size_t count = costs.stages.size();
  const double items = costs.items;
  std::vector<Seconds> forth(count), back(count), ways(count);
  for (std::size_t s = count; s-- > 0;) {
    for (const TransferCosts& transfer : costs.transfers) {
      if (transfer.from != s) continue;
      forth[s] = std::max(forth[s], transfer.item + forth[transfer.to]);
      back[s] = std::max(back[s], transfer.item + back[transfer.to]);
    }
    forth[s] += costs.stages[s].forward / items;
    back[s] += costs.stages[s].backward / items;
    ways[s] = forth[s] + back[s];
  }
  return ways;
}

Seconds drain_time(const PipelineCosts& costs, const Period& period) {
  const std::vector<Seconds> ways = ways_of_item(costs);
  const Seconds per_item = period.per_minibatch / costs.items;
  switch (period.limit) {
    case Limit::kCompute: {
      Seconds longest{0};
      for (std::size_t s = 0; s < ways.size(); ++s)
        if (is_about(costs.stages[s].compute() / costs.stages[s].replicas, period.per_minibatch))
          longest = std::max(longest, idle_at_ends(costs, ways, s));
      return longest;
    }
    case Limit::kLoop:
      // The first items begin together, one on each replica, and come back after the whole way.
      return std::max(Seconds(0), ways.front() - costs.stages.at(period.stage).replicas * per_item);
    case Limit::kLink:
      return std::max(Seconds(0), ways.front() - per_item);
    case Limit::kExchange:  // averagings begin after the first backwards
    case Limit::kLatency:
      return ways.front();
  }
  return Seconds(0);
}

Period one_f_one_b_time(const PipelineCosts& costs) {
  Period period;
  raise_to_busiest(costs, period);
  if (costs.accumulate > 1)
    for (std::size_t s = 0; s < costs.stages.size(); ++s)
      period.raise(update_time(costs, s) / (costs.accumulate * costs.stages[s].replicas),
                   Limit::kExchange, s);
  raise_to_loops(costs, period);
  return period;
}

}  // namespace pipedream::cost
