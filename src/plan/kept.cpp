#include "plan/kept.h"

#include <algorithm>

namespace pipedream::plan {
namespace {

// Inserts the plan into `list`, the best first, which keeps at most `most` plans. Of equally good
// ones, the first stays ahead.
void insert(std::vector<Answer>& list, std::size_t most, const Layout& layout,
            const Prediction& prediction) {
  const auto at = std::upper_bound(
      list.begin(), list.end(), order(prediction),
      [](const Order& found, const Answer& other) { return found < order(other.prediction); });
  if (at == list.begin() + static_cast<std::ptrdiff_t>(most)) return;
  Answer answer{layout, prediction, prediction.per_minibatch, {}};
  if (contains(list, answer)) return;
  list.insert(at, std::move(answer));
  if (list.size() > most) list.pop_back();
}

}  // namespace

void Kept::offer(const Layout& layout, const Prediction& prediction) {
  if (prediction.miss) return;
  const bool replicated =
      std::any_of(layout.workers.begin(), layout.workers.end(),
                  [](const std::vector<WorkerId>& workers) { return workers.size() > 1; });
  insert(of_all_, kOfAll, layout, prediction);
  insert(of_form_[{layout.stages(), replicated}], kOfForm, layout, prediction);
}

std::vector<Answer> Kept::answers(std::optional<Seconds> bound) const {
  std::vector<Answer> all = of_all_;
  for (const auto& [form, list] : of_form_)
    for (const Answer& answer : list)
      if (!contains(of_all_, answer)) all.push_back(answer);
  for (Answer& answer : all) answer.bound = bound;
  sort_best_first(all);
  return all;
}

}  // namespace pipedream::plan
