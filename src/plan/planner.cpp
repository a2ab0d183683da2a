#include "plan/planner.h"

#include <algorithm>

#include "core/check.h"

namespace pipedream::plan {

Refusal out_of_memory(const MemoryMiss& nearest) {
  return {"no plan fits the memory: the best attempt misses by " + to_text(nearest.bytes) + " (" +
              std::to_string(nearest.bytes.count) + " bytes) on stage " +
              std::to_string(nearest.stage.value),
          nearest};
}

Outcome best_of(Candidates candidates) {
  if (auto* refusal = std::get_if<Refusal>(&candidates)) return std::move(*refusal);
  auto& answers = std::get<std::vector<Answer>>(candidates);
  PD_CHECK(!answers.empty());
  return std::move(answers.front());
}

Candidates only(Outcome outcome) {
  if (auto* refusal = std::get_if<Refusal>(&outcome)) return std::move(*refusal);
  std::vector<Answer> answers;
  answers.push_back(std::get<Answer>(std::move(outcome)));
  return answers;
}

Candidates joined(std::vector<Candidates> lists) {
  std::vector<Answer> all;
  std::optional<Refusal> refusal;
  for (Candidates& list : lists) {
    if (auto* refused = std::get_if<Refusal>(&list)) {
      const bool nearer = refusal && refused->nearest &&
                          (!refusal->nearest || refused->nearest->bytes < refusal->nearest->bytes);
      if (!refusal || nearer) refusal = std::move(*refused);
      continue;
    }
    for (Answer& answer : std::get<std::vector<Answer>>(list))
      if (!contains(all, answer)) all.push_back(std::move(answer));
  }
  if (all.empty()) return std::move(refusal).value();
  sort_best_first(all);
  std::optional<Seconds> bound;
  for (const Answer& answer : all)
    if (answer.bound) bound = std::min(bound.value_or(*answer.bound), *answer.bound);
  for (Answer& answer : all) answer.bound = bound;
  return all;
}

Order order(const Prediction& prediction) { return {rank(prediction), prediction.stages.size()}; }

void sort_best_first(std::vector<Answer>& answers) {
  const auto key = [](const Answer& answer) {
    return std::pair(answer.objective, answer.layout.stages());
  };
  std::stable_sort(answers.begin(), answers.end(),
                   [&](const Answer& a, const Answer& b) { return key(a) < key(b); });
}

bool contains(const std::vector<Answer>& answers, const Answer& answer) {
  const auto same_choices = [](const StagePrediction& one, const StagePrediction& other) {
    return one.depth == other.depth && one.recompute == other.recompute;
  };
  return std::any_of(answers.begin(), answers.end(), [&](const Answer& other) {
    const std::vector<StagePrediction>& stages = answer.prediction.stages;
    return other.layout.ends == answer.layout.ends &&
           other.layout.workers == answer.layout.workers &&
           other.prediction.microbatches == answer.prediction.microbatches &&
           std::equal(stages.begin(), stages.end(), other.prediction.stages.begin(), same_choices);
  });
}

Candidates as_candidates(const Predictor& predictor, std::vector<Layout> layouts) {
  std::vector<Answer> answers;
  std::optional<MemoryMiss> nearest;
  for (Layout& layout : layouts) {
    Prediction prediction = predictor.predict(layout);
    if (!prediction.miss) {
      const Seconds time = prediction.per_minibatch;
      answers.push_back({std::move(layout), std::move(prediction), time, std::nullopt});
    } else if (!nearest || prediction.miss->bytes < nearest->bytes) {
      nearest = prediction.miss;
    }
  }
  if (answers.empty()) return out_of_memory(*nearest);
  sort_best_first(answers);
  return answers;
}

Outcome as_outcome(const Predictor& predictor, Layout layout) {
  return best_of(as_candidates(predictor, {std::move(layout)}));
}

}  // namespace pipedream::plan
