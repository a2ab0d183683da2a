#include "cost/pipeline.h"

#include <algorithm>

#include "core/check.h"

namespace pipedream::cost {

Seconds gpipe_latency(std::span<const PipelineStep> steps, int items, Seconds beside) {
  PipelineStep sum;
  PipelineStep slowest{beside, beside};
  for (const PipelineStep& step : steps) {
    sum.forward += step.forward;
    sum.backward += step.backward;
    slowest.forward = std::max(slowest.forward, step.forward);
    slowest.backward = std::max(slowest.backward, step.backward);
  }
  return sum.forward + sum.backward + (items - 1) * (slowest.forward + slowest.backward);
}

namespace {

// Returns the index of the pivot step for `items` items.
std::size_t pivot_of(std::span<const PipelineStep> steps, int items) {
  std::size_t pivot = steps.size() - 1;
  Seconds between{0};  // Σ (F + B) over the steps after s up to the pivot
  for (std::size_t s = steps.size() - 1; s-- > 0;) {
    between += steps[s + 1].forward + steps[s + 1].backward;
    const Seconds here = (items - 1) * (steps[s].forward + steps[s].backward);
    const Seconds there = (items - 1) * (steps[pivot].forward + steps[pivot].backward);
    if (here > there + between) {
      pivot = s;
      between = Seconds(0);
    }
  }
  return pivot;
}

}  // namespace

Seconds dapple_latency(std::span<const PipelineStep> steps, std::span<const Seconds> exchange,
                       int items, Seconds loop) {
  PD_CHECK(!steps.empty() && steps.size() == exchange.size());
  const std::size_t pivot = pivot_of(steps, items);
  Seconds warm_up{0};
  for (std::size_t a = 0; a <= pivot; ++a) warm_up += steps[a].forward;
  const Seconds steady = (items - 1) * std::max(loop, steps[pivot].forward + steps[pivot].backward);
  Seconds ending{0};
  Seconds backwards{0};  // Σ B over the steps from s to the pivot
  for (std::size_t s = pivot + 1; s-- > 0;) {
    backwards += steps[s].backward;
    ending = std::max(ending, exchange[s] + backwards);
  }
  Seconds earlier{0};  // Σ B over the steps after the pivot and before s
  for (std::size_t s = pivot + 1; s < steps.size(); ++s) {
    ending = std::max(ending, exchange[s] - earlier);
    earlier += steps[s].backward;
  }
  return warm_up + steady + ending;
}

Seconds overlapped_step(std::span<const PipelineStep> layers, std::span<const Seconds> exchange) {
  PD_CHECK(layers.size() == exchange.size());
  Seconds computed{0};
  for (const PipelineStep& layer : layers) computed += layer.forward;
  Seconds averaged = computed;
  for (std::size_t l = layers.size(); l-- > 0;) {
    computed += layers[l].backward;
    averaged = std::max(averaged, computed) + exchange[l];
  }
  return std::max(computed, averaged);
}

}  // namespace pipedream::cost
