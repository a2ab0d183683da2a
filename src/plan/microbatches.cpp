#include "plan/microbatches.h"

#include <algorithm>

namespace pipedream::plan {

Candidates with_other_microbatches(const Predictor& predictor, Candidates candidates) {
  auto* answers = std::get_if<std::vector<Answer>>(&candidates);
  const Setting& setting = predictor.setting();
  if (answers == nullptr || !predictor.traits().cuts_minibatches || setting.microbatches)
    return candidates;
  const std::vector<Answer> best(
      answers->begin(),
      answers->begin() + static_cast<std::ptrdiff_t>(std::min(kVaried, answers->size())));
  for (const Answer& answer : best) {
    const std::vector<int> choices = predictor.microbatch_choices(answer.layout.stages());
    const int chosen = answer.prediction.microbatches;
    for (const int other : choices) {
      if (other != 2 * chosen && 2 * other != chosen) continue;
      Setting with = setting;
      with.microbatches = other;
      Prediction prediction =
          Predictor(predictor.cuts(), predictor.cluster(), with).predict(answer.layout);
      if (prediction.miss) continue;
      const Seconds time = prediction.per_minibatch;
      Answer varied{answer.layout, std::move(prediction), time, answer.bound};
      if (!contains(*answers, varied)) answers->push_back(std::move(varied));
    }
  }
  sort_best_first(*answers);
  return candidates;
}

}  // namespace pipedream::plan
