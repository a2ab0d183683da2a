// Shows a training to the user while it runs.
#pragma once

#include <optional>
#include <string>

#include "cli/live_page.h"
#include "cli/progress.h"
#include "cli/tensorboard.h"
#include "train/run_folder.h"
#include "train/trainer.h"

namespace pipedream::cli {

// Shows the progress of a training on stderr, and writes its metrics if there are any. Training and
// evaluation have separate progress bars, each with its own time left. Its observer is called by
// one thread at a time (train/trainer.h).
class Watcher {
 public:
  // `lines`, if not null, gets the lines of metrics too.
  // `live`, if not null, shows the training to browsers.
  Watcher(std::string model, std::string system, std::optional<train::Metrics> metrics,
          std::string* lines, std::optional<TensorBoard> board, LivePage* live);
  // The returned observer refers to this object, which must outlive it.
  [[nodiscard]] train::Observer observer() {
    return {.step = [this](const train::Step& done) { see(done); },
            .evaluating = [this](const train::EvaluationStep& done) { see(done); },
            .evaluation = [this](const train::Evaluation& done) { see(done); },
            .odd_workers = [this](const train::OddWorkers& odd) { see(odd); }};
  }

  // The reason why some metrics were not written, or nothing if all were.
  [[nodiscard]] std::optional<std::string> lost_metrics() {
    return metrics_ ? metrics_->finish() : std::nullopt;
  }

 private:
  template <class Seen>
  void keep(const Seen& seen) {
    if (metrics_) metrics_->add(seen);
    if (lines_ != nullptr) *lines_ += train::metrics_line(seen) + "\n";
    if (board_) board_->add(seen);
    if (live_ != nullptr) live_->add(seen);
  }
  void see(const train::Step& step);
  void see(const train::EvaluationStep& step);
  void see(const train::Evaluation& evaluation);
  // Only metrics have these; the caller tells the user, who may want a new plan.
  void see(const train::OddWorkers& odd);
  std::string model_;
  std::string system_;
  PhaseProgress progress_;
  train::Step last_;
  std::optional<train::Metrics> metrics_;
  std::string* lines_;
  std::optional<TensorBoard> board_;
  LivePage* live_;
};

}  // namespace pipedream::cli
