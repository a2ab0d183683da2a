#include "train/profiling.h"

#include <algorithm>

#include "core/machine.h"

namespace pipedream::train {
namespace {

// Hundreds of steps on made-up data must not lead to numbers that take longer to compute with. Not
// 0, which somebody's kernel might treat as a case of its own.
constexpr double kStandingStill = 1e-12;

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
  return profiler::profile_network(network, options);
}

}  // namespace pipedream::train
