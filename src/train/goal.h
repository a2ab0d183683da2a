// When a training ends early: because it has reached what was asked for, or because it learns no
// more (docs/training.md#targets).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/score.h"

namespace pipedream::train {

// The figures of an evaluation on held-out data.
[[nodiscard]] std::optional<double> accuracy_of(const runtime::Score& score);
[[nodiscard]] std::optional<double> perplexity_of(const runtime::Score& score);
// The share of labels that are among the five most likely classes. Nothing if the network predicts
// no single label per sample, or has at most five classes.
[[nodiscard]] std::optional<double> top5_of(const runtime::Score& score);

enum class Figure { kAccuracy, kPerplexity, kLoss };
[[nodiscard]] const char* to_text(Figure figure);  // "accuracy", "perplexity", "loss"

struct Target {
  Figure figure = Figure::kAccuracy;
  double wanted = 0;
  friend bool operator==(const Target&, const Target&) = default;
};
// Whether `found` is as good as the target or better.
[[nodiscard]] bool is_met(const Target& target, double found);

struct Goal {
  std::optional<Target> target;
  // The training ends if figure() has not improved for this many epochs.
  std::optional<std::int64_t> patience_epochs;

  [[nodiscard]] bool is_set() const { return target || patience_epochs; }
  [[nodiscard]] Figure figure() const { return target ? target->figure : Figure::kLoss; }
};

// Follows the evaluations of one training. All workers have one, and all decide alike, because all
// get the same scores.
class GoalWatch {
 public:
  // `epoch`: samples of an epoch.
  GoalWatch(const Goal& goal, std::int64_t epoch) : goal_(goal), epoch_(epoch) {}

  // Whether the figure is one that not all networks have.
  [[nodiscard]] bool needs_predictions() const {
    return goal_.is_set() && goal_.figure() != Figure::kLoss;
  }
  // Throws CannotMeet if an evaluation with this score gives no such figure.
  void want_figure(const runtime::Score& score) const;
  // To be called after each evaluation. `samples`: trained before it, over all epochs. Throws as
  // want_figure() does.
  void see(const runtime::Score& score, std::int64_t samples);

  [[nodiscard]] bool is_reached() const { return reached_; }
  [[nodiscard]] bool is_stalled() const { return stalled_; }
  [[nodiscard]] bool has_ended() const { return reached_ || stalled_; }
  // The best value of Goal::figure() so far.
  [[nodiscard]] const std::optional<double>& best() const { return best_; }

 private:
  Goal goal_;
  std::int64_t epoch_;
  std::optional<double> best_;
  std::int64_t best_at_ = 0;  // samples trained before the best evaluation
  bool reached_ = false;
  bool stalled_ = false;
};

}  // namespace pipedream::train
