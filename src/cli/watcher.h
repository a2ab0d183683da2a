// A training as it goes on, for whoever waits for it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/progress.h"
#include "cli/run_folder.h"
#include "train/trainer.h"

namespace pipedream::cli {

// Shows how a training goes on, and writes it to a file if one is named.
class Watcher {
 public:
  Watcher(const std::string& title, const std::optional<std::filesystem::path>& metrics)
      : progress_(title) {
    if (metrics) metrics_.emplace(*metrics);
  }
  // Refers to this.
  [[nodiscard]] train::Observer observer() {
    return {.step = [this](const train::Step& done) { see(done); },
            .evaluating = [this](const train::EvaluationStep& done) { see(done); },
            .evaluation = [this](const train::Evaluation& done) { see(done); }};
  }

 private:
  void see(const train::Step& step);
  void see(const train::EvaluationStep& step);
  void see(const train::Evaluation& evaluation);

  Progress progress_;
  std::optional<Metrics> metrics_;
};

}  // namespace pipedream::cli
