// A training as it goes on, for whoever waits for it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/progress.h"
#include "train/run_folder.h"
#include "train/trainer.h"

namespace pipedream::cli {

// Shows how far a training is, and writes its metrics to a file if one is named. Training and
// evaluation have a progress bar of their own each, with its own time left.
class Watcher {
 public:
  Watcher(std::string model, std::string system,
          const std::optional<std::filesystem::path>& metrics);
  // Refers to this.
  [[nodiscard]] train::Observer observer() {
    return {.step = [this](const train::Step& done) { see(done); },
            .evaluating = [this](const train::EvaluationStep& done) { see(done); },
            .evaluation = [this](const train::Evaluation& done) { see(done); }};
  }

  // Why metrics are missing; nothing if all were written.
  [[nodiscard]] std::optional<std::string> lost_metrics() const {
    return metrics_ ? metrics_->failure() : std::nullopt;
  }

 private:
  void see(const train::Step& step);
  void see(const train::EvaluationStep& step);
  void see(const train::Evaluation& evaluation);
  std::string model_;
  std::string system_;
  PhaseProgress progress_;
  std::optional<train::Metrics> metrics_;
};

}  // namespace pipedream::cli
