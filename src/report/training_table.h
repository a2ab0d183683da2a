// What a training run did, beside what was predicted, as text for people and as JSON
// (docs/runtime.md#measuring).
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "plan/plan.h"
#include "systems/choice.h"
#include "systems/measured.h"
#include "systems/simulation.h"

namespace pipedream::report {

// A plan that a training went by before it took another one.
struct EarlierPlan {
  std::string config;
  std::int64_t until = 0;  // minibatches trained when it ended, counted from the first
  double samples_per_second = 0;
};

// One real run of a plan.
struct TrainingRun {
  std::string model;
  plan::Plan plan;
  std::int64_t batch = 0;           // samples of a minibatch on one replica of the first stage
  std::optional<double> predicted;  // samples per second; nullopt if not known
  std::optional<systems::Simulated> simulated;
  systems::Measured measured;
  // The memory of one worker of each stage, as the plan predicts it. Empty if not known.
  std::vector<Bytes> stage_memory{};
  // By worker: the memory of its copy of the state while a checkpoint is written. Empty if there
  // were no checkpoints.
  std::vector<Bytes> copies{};
  std::optional<double> predicted_drain{};       // plan::Predicted::drain_seconds
  std::map<std::string, std::string> options{};  // that the network was made with
  std::uint64_t seed = 0;
  std::string optimiser{};
  double learning_rate = 0;
  std::vector<EarlierPlan> earlier{};  // before `plan`, in the same run
};

// Returns speed and loss, and a line per worker: its time by cause, its measured and its predicted
// memory, and its staleness.
[[nodiscard]] std::string training_table(const TrainingRun& run);
// Returns the object that `train --json` prints (docs/formats.md).
[[nodiscard]] nlohmann::ordered_json training_json(const TrainingRun& run);
// Returns the title of a picture, as in "mlp: gpipe 1-1, measured" or "mlp: gpipe 1×8, measured".
[[nodiscard]] std::string training_title(const TrainingRun& run);
// Returns the line under a picture's title, as in "123 samples/s; busy …", with the minibatches
// that the picture shows.
[[nodiscard]] std::string training_line(const TrainingRun& run);

// A system that was to be compared and did not run.
struct NotRun {
  std::string system;
  std::string why;
};
// Return what `train --system all` prints: all runs side by side, with the choice of `auto` marked.
// `automatic` is the name of that system, or empty if `auto` chose none.
[[nodiscard]] std::string training_comparison_table(const std::vector<TrainingRun>& runs,
                                                    const std::vector<NotRun>& not_run,
                                                    const std::string& automatic);
[[nodiscard]] nlohmann::ordered_json training_comparison_json(const std::vector<TrainingRun>& runs,
                                                              const std::vector<NotRun>& not_run,
                                                              const std::string& automatic);

}  // namespace pipedream::report
