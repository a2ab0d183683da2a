#include "cost/overlapped_averaging.h"

namespace pipedream::cost {

Seconds step_with_averaging(const PipelineCosts& costs, const PipelineStep& step, double volume) {
  // Both lists are in forward order. The backward releases the last bucket first, so every further
  // bucket goes to the front, right behind the entry of the forward.
  std::vector<PipelineStep> steps{{step.forward, Seconds(0)}};
  std::vector<Seconds> averaging{Seconds(0)};
  double done = 0;
  for (const Bucket& bucket : costs.buckets) {
    steps.insert(steps.begin() + 1, {Seconds(0), step.backward * (bucket.released - done)});
    averaging.insert(averaging.begin() + 1,
                     costs.averager.time(static_cast<double>(bucket.weights.count) * volume));
    done = bucket.released;
  }
  steps.front().backward = step.backward * (1 - done);
  return overlapped_step(steps, averaging);
}

}  // namespace pipedream::cost
