#include "schedule/counts.h"

namespace pipedream::schedule {

void count(const Op& op, Counter& counter) {
  if (const auto* forward = std::get_if<Forward>(&op)) counter.forward(forward->weights);
  const auto* backward = std::get_if<Backward>(&op);
  if (backward != nullptr && backward->part != BackwardPart::kInput)
    counter.backward(backward->weights);
}

}  // namespace pipedream::schedule
