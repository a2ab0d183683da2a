#include "train/optimiser_options.h"

#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "systems/planning.h"
#include "train/adam.h"
#include "train/sgd.h"
#include "train/weight_average.h"

namespace pipedream::train {
namespace {

void expect_not_negative(const std::string& what, double value) {
  if (!std::isfinite(value) || value < 0)
    throw BadUsage("`" + what + "`: wanted a number from 0 on, found " + brief_number(value));
}

// For the factors of running averages (momentum, beta1, beta2). With 1, an average would never
// forget the past.
void expect_below_one(const std::string& what, double value) {
  if (!(value >= 0 && value < 1))
    throw BadUsage("`" + what + "`: wanted a number from 0 to below 1, found " +
                   brief_number(value));
}

void check(const OptimiserOptions& options) {
  expect_not_negative("learning_rate", options.learning_rate);
  expect_not_negative("weight_decay", options.weight_decay);
  expect_not_negative("epsilon", options.epsilon);
  expect_below_one("momentum", options.momentum);
  expect_below_one("beta1", options.beta1);
  expect_below_one("beta2", options.beta2);
  if (options.ema) expect_below_one("ema", *options.ema);
}

std::unique_ptr<runtime::Optimiser> plain_optimiser(const OptimiserOptions& options) {
  if (options.kind == OptimiserKind::kSgd || options.kind == OptimiserKind::kMomentum)
    return std::make_unique<Sgd>(
        SgdOptions{.learning_rate = options.learning_rate,
                   .momentum = options.kind == OptimiserKind::kMomentum ? options.momentum : 0,
                   .weight_decay = options.weight_decay,
                   .decays_vectors = options.decays_vectors});
  return std::make_unique<Adam>(AdamOptions{.learning_rate = options.learning_rate,
                                            .beta1 = options.beta1,
                                            .beta2 = options.beta2,
                                            .epsilon = options.epsilon,
                                            .weight_decay = options.weight_decay,
                                            .decoupled = options.kind == OptimiserKind::kAdamW,
                                            .decays_vectors = options.decays_vectors});
}

}  // namespace

const std::string& to_text(OptimiserKind kind) {
  return systems::optimiser_names().at(static_cast<std::size_t>(kind));
}

OptimiserKind optimiser_kind(std::string_view name) {
  return static_cast<OptimiserKind>(systems::optimiser_place(name));
}

double default_learning_rate(OptimiserKind kind) {
  return kind == OptimiserKind::kAdam || kind == OptimiserKind::kAdamW ? 0.001 : 0.01;
}

int copies_of(const OptimiserOptions& options) {
  return systems::optimiser_copies(to_text(options.kind)) + (options.ema ? 1 : 0);
}

std::unique_ptr<runtime::Optimiser> make_optimiser(const OptimiserOptions& options) {
  check(options);
  auto optimiser = plain_optimiser(options);
  if (!options.ema) return optimiser;
  return std::make_unique<WeightAverage>(std::move(optimiser), *options.ema);
}

}  // namespace pipedream::train
