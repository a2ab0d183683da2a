// What a training run did, beside what was predicted: for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "plan/plan.h"
#include "systems/measured.h"
#include "systems/simulation.h"
#include "systems/choice.h"

namespace pipedream::report {

// One real run of a plan.
struct TrainingRun {
  std::string model;
  plan::Plan plan;
  std::int64_t batch = 0;
  std::optional<double> predicted;  // samples/s; none where nothing was profiled
  std::optional<systems::Simulated> simulated;
  systems::Measured measured;
  std::vector<Bytes> stage_memory;  // of a worker, as the plan predicts it; empty: not known
};

// Speed, loss, and a line per worker: its time by cause, memory measured and predicted, staleness.
[[nodiscard]] std::string training_table(const TrainingRun& run);
// The object of `train --json` (docs/formats.md).
[[nodiscard]] nlohmann::ordered_json training_json(const TrainingRun& run);
// Over a picture, "mlp: gpipe 1-1, measured", and under that, "123 samples/s; busy …", with the
// minibatches that it shows.
[[nodiscard]] std::string training_title(const TrainingRun& run);
[[nodiscard]] std::string training_line(const TrainingRun& run);

// A system that was to be compared and did not run.
struct NotRun {
  std::string system;
  std::string why;
};
// `train --system all`: all runs side by side, the choice of `auto` marked.
[[nodiscard]] std::string training_comparison_table(const std::vector<TrainingRun>& runs,
                                                    const std::vector<NotRun>& not_run,
                                                    const std::string& automatic);
[[nodiscard]] nlohmann::ordered_json training_comparison_json(const std::vector<TrainingRun>& runs,
                                                              const std::vector<NotRun>& not_run,
                                                              const std::string& automatic);

}  // namespace pipedream::report
