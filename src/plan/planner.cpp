#include "plan/planner.h"

namespace pipedream::plan {

Refusal out_of_memory(const MemoryMiss& nearest) {
  return {"no plan fits the memory: the best attempt misses by " + to_text(nearest.bytes) + " (" +
              std::to_string(nearest.bytes.count) + " bytes) on stage " +
              std::to_string(nearest.stage.value),
          nearest};
}

Outcome as_outcome(const Predictor& predictor, Layout layout) {
  Prediction prediction = predictor.predict(layout);
  if (prediction.miss) return out_of_memory(*prediction.miss);
  const Seconds time = prediction.per_minibatch;
  return Answer{std::move(layout), std::move(prediction), time, std::nullopt};
}

}  // namespace pipedream::plan
