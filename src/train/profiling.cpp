#include "train/profiling.h"

#include <algorithm>

#include "core/machine.h"
#include "systems/planning.h"
#include "train/averaging_time.h"
#include "train/memory_need.h"

namespace pipedream::train {
namespace {

// A learning rate so small that hundreds of steps on random data do not lead to numbers that are
// slower to compute with. It is not 0, because a kernel may treat 0 as a special case.
constexpr double kStandingStill = 1e-12;

// Measures the averaging time of the whole network and divides it among the layers in proportion to
// their weights.
void add_averaging(const profiler::ProfileOptions& options, profile::Profile& profile) {
  const Bytes weights = total_weights(profile);
  if (weights == Bytes{0}) return;
  AveragingOf what{.replicas = options.workers,
                   .threads = options.threads,
                   .bind_cores = options.bind_cores,
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
  // Workers on separate GPUs do not slow each other down, so one is enough.
  const int most = options.device.is_cpu() ? std::max(1, cores() / options.threads) : 1;
  options.workers = std::clamp(options.workers, 1, most);
  if (options.device.is_cpu()) {
    options.progress(0, "estimating memory");
    want_memory_for_profile(network, options.precision,
                            systems::optimiser_copies(to_text(optimiser.kind)), options.workers);
  }
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
