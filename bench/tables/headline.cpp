#include "tables/headline.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "plan/general.h"
#include "systems/planning.h"
#include "systems/simulation.h"
#include "tables/all_but_one.h"

namespace pipedream::bench {

using namespace systems;

const std::vector<PublishedResult>& published_results() {
  static const std::vector<PublishedResult> results{
      {"vgg16", "a-1x4", {}, {}},         {"vgg16", "a-3x4", {}, {}},
      {"vgg16", "a-4x4", "15-1", 5.28},   {"vgg16", "b-2x8", "15-1", 2.98},
      {"alexnet", "a-1x4", {}, {}},       {"alexnet", "a-3x4", {}, {}},
      {"alexnet", "a-4x4", "15-1", 4.92}, {"alexnet", "b-2x8", "15-1", 2.04},
      {"resnet50", "a-1x4", {}, {}},      {"resnet50", "a-3x4", {}, {}},
      {"resnet50", "a-4x4", "16", 1},     {"resnet50", "b-2x8", "16", 1},
      {"gnmt", "a-1x4", "straight", 1.5}, {"gnmt", "a-3x4", "straight", 2.95},
      {"gnmt", "a-4x4", {}, {}},          {"gnmt", "b-2x8", "16", 1},
  };
  return results;
}

namespace {

constexpr double kDiffers = 0.25;
constexpr double kLeastShare = 0.01;
constexpr double kMostShare = 10;

const Planned& wanted(const Result& result) {
  if (const auto* refusal = std::get_if<plan::Refusal>(&result))
    throw CannotMeet("the headline table: " + refusal->why);
  return std::get<Planned>(result);
}

class Simulator {
 public:
  Simulator(const profile::Profile& profile, cluster::Cluster cluster)
      : profile_(profile), cluster_(std::move(cluster)) {
    wishes_.conditions.loading = false;
  }

  [[nodiscard]] Simulated run(const plan::Plan& plan) const {
    return simulate_plan(plan, profile_, cluster_, wishes_);
  }
  [[nodiscard]] Simulator with_bandwidth(double share) const {
    Simulator slower = *this;
    for (cluster::Level& level : slower.cluster_.levels) level.bandwidth.bytes_per_second *= share;
    return slower;
  }

 private:
  const profile::Profile& profile_;
  cluster::Cluster cluster_;
  SimulationWishes wishes_;
};

HeadlineRun run_of(const Simulator& simulator, const plan::Plan& plan, const Simulated& against) {
  const Simulated run = simulator.run(plan);
  return {plan::config_text(plan), run.minibatches_per_second / against.minibatches_per_second,
          std::max(0.0, 1 - run.bytes_per_minibatch / against.bytes_per_minibatch)};
}

std::optional<plan::Plan> plan_of_kind(const std::string& kind, const Model& model,
                                       const cluster::Cluster& cluster,
                                       const plan::Plan& data_parallel) {
  if (kind == "16") return data_parallel;
  const plan::Predictor predictor(model.cuts, cluster, setting_of(find_system("pipedream"), {}));
  const plan::Outcome outcome = kind == "straight"
                                    ? best_of(plan::plan_general(predictor, {.straight = true}))
                                    : plan_all_but_one(predictor);
  const auto* answer = std::get_if<plan::Answer>(&outcome);
  if (answer == nullptr) return std::nullopt;
  return plan::to_plan(model.cuts, answer->layout, answer->prediction, "pipedream");
}

// Finds, by bisection, the share of the bandwidth with which data parallelism trains `wanted`
// minibatches per second. This works because less bandwidth never makes it faster. Nothing if the
// share would be below `kLeastShare` or above `kMostShare`.
std::optional<double> share_that_explains(const Simulator& simulator,
                                          const plan::Plan& data_parallel, double wanted) {
  const auto rate = [&](double share) {
    return simulator.with_bandwidth(share).run(data_parallel).minibatches_per_second;
  };
  double low = kLeastShare;
  double high = kMostShare;
  if (rate(low) > wanted || rate(high) < wanted) return std::nullopt;
  for (int i = 0; i < 40; ++i) {
    const double middle = std::sqrt(low * high);
    (rate(middle) < wanted ? low : high) = middle;
  }
  return high;
}

}  // namespace

Headline headline(const PublishedResult& published, const profile::Profile& profile,
                  const cluster::Cluster& cluster) {
  const Model model(profile);
  const Planned data_parallel = wanted(plan_for(find_system("dp-bsp"), model, cluster, {}));
  const Planned ours = wanted(plan_for(find_system("pipedream"), model, cluster, {}));
  const Simulator simulator(profile, cluster);
  const Simulated base = simulator.run(data_parallel.plan);
  Headline result{
      published, base.minibatches_per_second, run_of(simulator, ours.plan, base), {}, {}};
  if (!published.plan) return result;
  const auto theirs = plan_of_kind(*published.plan, model, cluster, data_parallel.plan);
  if (!theirs) return result;
  result.paper = run_of(simulator, *theirs, base);
  if (*published.speedup > 1)
    result.bandwidth_share = share_that_explains(
        simulator, data_parallel.plan,
        result.paper->speedup * base.minibatches_per_second / *published.speedup);
  return result;
}

bool differs(const Headline& headline) {
  return headline.published.speedup &&
         std::abs(headline.ours.speedup / *headline.published.speedup - 1) > kDiffers;
}

}  // namespace pipedream::bench
