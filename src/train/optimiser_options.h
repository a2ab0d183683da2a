// Which optimiser trains, as a user says it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/optimiser.h"

namespace pipedream::train {

// In the order of systems::optimiser_names().
enum class OptimiserKind { kSgd, kMomentum, kAdam, kAdamW };

struct OptimiserOptions {
  OptimiserKind kind = OptimiserKind::kMomentum;
  double learning_rate = 0.01;
  double momentum = 0.9;    // of kMomentum alone
  double weight_decay = 0;  // of all; torch's AdamW would begin with 0.01
  double beta1 = 0.9;       // this and what follows: of kAdam and kAdamW
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

[[nodiscard]] const std::string& to_text(OptimiserKind kind);
// The kind of that name; throws BadUsage with the nearest.
[[nodiscard]] OptimiserKind optimiser_kind(std::string_view name);

// How far an update goes where nobody says it.
[[nodiscard]] double default_learning_rate(OptimiserKind kind);

// A new optimiser without state. Throws BadUsage for a number out of its range.
[[nodiscard]] std::unique_ptr<runtime::Optimiser> make_optimiser(const OptimiserOptions& options);

}  // namespace pipedream::train
