#include "train/replanning.h"

#include <utility>

#include "core/error.h"

namespace pipedream::train {
namespace {

// A new plan costs a checkpoint, and weights that are read again: it must be that much faster.
constexpr double kClearlyFaster = 1.05;

// Samples per second that plans reach on a cluster; 0 if the simulation was too short to tell.
double rate_of(const systems::Simulated& simulated, const model::Network& network) {
  return simulated.minibatches_per_second * static_cast<double>(network.batch);
}

}  // namespace

cluster::Cluster slowed_down(cluster::Cluster cluster, const std::vector<double>& ratios) {
  for (std::size_t w = 0; w < cluster.devices.size(); ++w) cluster.devices[w].speed /= ratios.at(w);
  return cluster;
}

std::optional<Replanned> replan(const PreparationCase& of, const Preparation& made,
                                const plan::Plan& current, const std::vector<double>& ratios) {
  const profile::Profile& profile = made.profile.value();
  const cluster::Cluster cluster = slowed_down(made.cluster.value(), ratios);
  const systems::System& system = systems::find_system(current.system);
  const double before = rate_of(simulated(of, profile, cluster, current), of.network);
  systems::Wishes wishes = systems::only_known(system, wishes_of(of));
  wishes.accumulate = current.accumulate;
  try {
    const systems::Planned planned =
        systems::plan_with(system.name, systems::Model(profile), cluster, wishes).planned;
    check_plan(of, planned.plan);
    PreparedPlan plan = prepared(of, profile, cluster, planned);
    const double after = rate_of(plan.simulated.value(), of.network);
    if (before <= 0 || after < kClearlyFaster * before) return std::nullopt;
    return Replanned{std::move(plan), cluster, before, after};
  } catch (const CannotMeet&) {  // the training goes on with the plan that it has
    return std::nullopt;
  }
}

void Replanner::tell(const OddWorkers& odd) {
  const std::lock_guard lock(mutex_);
  news_ = odd.ratios;
}

bool Replanner::wants_stop() {
  if (found_) return true;
  const std::optional<std::vector<double>> news = [&] {
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, std::nullopt);
  }();
  if (news) found_ = make_plan_(*news);
  return found_.has_value();
}

}  // namespace pipedream::train
