#include "cost/pipeline_steps.h"

#include <algorithm>

namespace pipedream::cost {
namespace {

// Returns the time of a transfer among those that begin with it, for which `with_it` returns true.
// They share one link fairly. Where they leave over different levels of the network, the transfers
// over the faster level take next to no time.
template <class WithIt>
Seconds time_among(const PipelineCosts& costs, const TransferCosts& transfer, WithIt with_it) {
  Seconds time{0};
  for (const TransferCosts& other : costs.transfers)
    if (with_it(other)) time += std::min(other.item, transfer.item);
  return time;
}

// The way of one item through a pipeline in which nothing else is in flight. `time(transfer,
// forward)` returns how long a transfer takes.
struct Way {
  template <class Time>
  Way(const PipelineCosts& costs, Time time) : between(costs.stages.size()) {
    const std::size_t count = costs.stages.size();
    std::vector<Seconds> forth(count), back(count);  // when the item has passed each stage
    for (std::size_t s = 0; s < count; ++s) {
      const Seconds before = s == 0 ? Seconds(0) : forth[s - 1];
      Seconds begin = before;
      for (const TransferCosts& transfer : costs.transfers)
        if (transfer.to == s) begin = std::max(begin, forth[transfer.from] + time(transfer, true));
      between[s].forward = begin - before;
      forth[s] = begin + costs.stages[s].forward * costs.stages[s].item_share;
    }
    for (std::size_t s = count; s-- > 0;) {
      const Seconds before = s + 1 == count ? Seconds(0) : back[s + 1];
      Seconds begin = before;
      for (const TransferCosts& transfer : costs.transfers)
        if (transfer.from == s) begin = std::max(begin, back[transfer.to] + time(transfer, false));
      if (s + 1 < count) between[s + 1].backward = begin - before;
      back[s] = begin + costs.stages[s].backward * costs.stages[s].item_share;
    }
    all = forth.back() + back.front();
  }
  std::vector<PipelineStep> between;  // by stage: from the stage before it to this stage
  Seconds all{0};
};

}  // namespace

PipelineSteps pipeline_steps(const PipelineCosts& costs) {
  const Way alone(costs, [](const TransferCosts& transfer, bool) { return transfer.item; });
  PipelineSteps steps;
  for (std::size_t s = 0; s < costs.stages.size(); ++s) {
    const StageCosts& stage = costs.stages[s];
    if (s > 0) {
      steps.times.push_back(alone.between[s]);
      steps.averaging.emplace_back(0);
    }
    steps.times.push_back({stage.forward * stage.item_share, stage.backward * stage.item_share});
    steps.averaging.push_back(stage.averaging);
  }
  for (const TransferCosts& transfer : costs.transfers)
    if (transfer.to != transfer.from + 1)
      steps.slowest_beside = std::max(steps.slowest_beside, transfer.item);
  return steps;
}

Seconds time_of_sharing(const PipelineCosts& costs) {
  const Way alone(costs, [](const TransferCosts& transfer, bool) { return transfer.item; });
  const Way shared(costs, [&](const TransferCosts& transfer, bool forward) {
    return time_among(costs, transfer, [&](const TransferCosts& other) {
      return forward ? other.from == transfer.from : other.to == transfer.to;
    });
  });
  return shared.all - alone.all;
}

}  // namespace pipedream::cost
