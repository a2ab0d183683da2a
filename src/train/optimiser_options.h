// The optimiser that a user chooses, by name and numbers, and its construction.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/optimiser.h"

namespace pipedream::train {

// Must have the order of systems::optimiser_names(): the index of a name there is the value here.
enum class OptimiserKind { kSgd, kMomentum, kAdam, kAdamW };

struct OptimiserOptions {
  OptimiserKind kind = OptimiserKind::kMomentum;
  double learning_rate = 0.01;
  double momentum = 0.9;    // only for kMomentum
  double weight_decay = 0;  // for all kinds; the default of torch's AdamW is 0.01 instead
  // Whether weight decay also applies to parameters of fewer than two dimensions: biases, and the
  // scales of normalisations.
  bool decays_vectors = true;
  double beta1 = 0.9;     // only for kAdam and kAdamW
  double beta2 = 0.999;   // only for kAdam and kAdamW
  double epsilon = 1e-8;  // only for kAdam and kAdamW
  // The decay of the weights' exponential moving average; nullopt if none is kept.
  std::optional<double> ema;
};

// The name of an optimiser: "sgd", "momentum", "adam", "adamw".
[[nodiscard]] const std::string& to_text(OptimiserKind kind);
// The optimiser of that name. Throws BadUsage, suggesting the nearest name, if there is none.
[[nodiscard]] OptimiserKind optimiser_kind(std::string_view name);

// The learning rate that is used if the user gives none.
[[nodiscard]] double default_learning_rate(OptimiserKind kind);

// The tensors that the optimiser keeps for each parameter, besides numbers: 1 for kMomentum, one
// more for an average.
[[nodiscard]] int copies_of(const OptimiserOptions& options);

// Returns a new optimiser with empty state. Throws BadUsage if a number is out of range.
[[nodiscard]] std::unique_ptr<runtime::Optimiser> make_optimiser(const OptimiserOptions& options);

}  // namespace pipedream::train
