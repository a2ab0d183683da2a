#include "train/profiling.h"

#include <algorithm>

#include "core/machine.h"
#include "train/averaging_time.h"

namespace pipedream::train {
namespace {

// Hundreds of steps on made-up data must not lead to numbers that take longer to compute with. Not
// 0, which somebody's kernel might treat as a case of its own.
constexpr double kStandingStill = 1e-12;

// To each layer by its weights.
void add_averaging(const profiler::ProfileOptions& options, profile::Profile& profile) {
  const Bytes weights = total_weights(profile);
  if (weights == Bytes{0}) return;
  AveragingOf what{.replicas = options.workers,
                   .threads = options.threads,
                   .with_sums = options.workers * options.threads >= cores()};
  for (const profile::LayerCost& cost : profile.costs) what.gradients.push_back(cost.weights);
  const Nanos all = averaging_time(what);
  for (profile::LayerCost& cost : profile.costs)
    cost.averaging = from_seconds(to_seconds(all) * static_cast<double>(cost.weights.count) /
                                  static_cast<double>(weights.count));
}

}  // namespace

profile::Profile profile_for_training(const model::Network& network,
                                      profiler::ProfileOptions options,
                                      OptimiserOptions optimiser) {
  optimiser.learning_rate = kStandingStill;
  // Workers on GPUs of their own are in nobody's way.
  const int most = options.device.is_cpu() ? std::max(1, cores() / options.threads) : 1;
  options.workers = std::clamp(options.workers, 1, most);
  options.make_update = [&]() -> profiler::Update {
    return [stepping = std::shared_ptr<runtime::Optimiser>(make_optimiser(optimiser))](
               const std::vector<profiler::WeightUpdate>& updates) {
      std::vector<runtime::ParameterStep> steps;
      for (const auto& [parameter, weight, gradient] : updates)
        steps.push_back({parameter, weight, gradient, weight});
      stepping->step_all(steps);
    };
  };
  profile::Profile profile = profiler::profile_network(network, options);
  if (options.workers > 1) {
    options.progress(0, "timing averaging");
    add_averaging(options, profile);
  }
  return profile;
}

}  // namespace pipedream::train
