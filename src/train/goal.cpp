#include "train/goal.h"

#include <cmath>

#include "core/error.h"

namespace pipedream::train {
namespace {

bool is_better(Figure figure, double found, double than) {
  return figure == Figure::kAccuracy ? found > than : found < than;
}

std::optional<double> figure_of(Figure figure, const runtime::Score& score) {
  switch (figure) {
    case Figure::kAccuracy:
      return accuracy_of(score);
    case Figure::kPerplexity:
      return perplexity_of(score);
    case Figure::kLoss:
      return score.mean_loss();
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> accuracy_of(const runtime::Score& score) {
  if (score.predictions == 0) return std::nullopt;
  return score.accuracy();
}

std::optional<double> perplexity_of(const runtime::Score& score) {
  if (score.predictions + score.padding <= score.samples || score.predictions == 0)
    return std::nullopt;
  return std::exp(score.loss_per_prediction());
}

std::optional<double> top5_of(const runtime::Score& score) {
  if (score.ranked == 0) return std::nullopt;
  return static_cast<double>(score.in_five) / static_cast<double>(score.ranked);
}

const char* to_text(Figure figure) {
  switch (figure) {
    case Figure::kAccuracy:
      return "accuracy";
    case Figure::kPerplexity:
      return "perplexity";
    case Figure::kLoss:
      return "loss";
  }
  return "";
}

bool is_met(const Target& target, double found) {
  return found == target.wanted || is_better(target.figure, found, target.wanted);
}

void GoalWatch::want_figure(const runtime::Score& score) const {
  if (!goal_.is_set() || figure_of(goal_.figure(), score)) return;
  const std::string figure = to_text(goal_.figure());
  throw CannotMeet("`target_" + figure + "`: an evaluation of this network gives no " + figure +
                   "; choose `target_loss`");
}

void GoalWatch::see(const runtime::Score& score, std::int64_t samples) {
  if (!goal_.is_set()) return;
  want_figure(score);
  const std::optional<double> found = figure_of(goal_.figure(), score);
  if (best_ ? is_better(goal_.figure(), *found, *best_) : !std::isnan(*found)) {
    best_ = found;
    best_at_ = samples;
  }
  reached_ = goal_.target && is_met(*goal_.target, *found);
  stalled_ =
      !reached_ && goal_.patience_epochs && samples - best_at_ >= *goal_.patience_epochs * epoch_;
}

}  // namespace pipedream::train
