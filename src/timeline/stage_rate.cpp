#include "timeline/stage_rate.h"

#include <algorithm>

namespace pipedream::timeline {

void StageRate::begin(std::int64_t minibatch) {
  draining_ = draining_ || (window_.drains && minibatch + turns_.round >= window_.minibatches);
}

void StageRate::complete(Nanos end) {
  ++completed_;
  latest_ = std::max(latest_, end);
  const std::int64_t warm_up = window_.warm_up * turns_.parts;
  if (completed_ <= warm_up) warm_ = std::max(warm_, end);
  const std::int64_t measured = completed_ - warm_up;
  if (measured <= 0 || measured % (turns_.round * turns_.parts) != 0) return;
  // While the pipeline drains, backwards come faster, because no forwards run between them.
  if (draining_ && measured_ > 0 && measured_end_ > warm_) return;
  measured_ = measured / turns_.parts;
  measured_end_ = latest_;
}

}  // namespace pipedream::timeline
