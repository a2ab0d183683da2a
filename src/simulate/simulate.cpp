#include "simulate/simulate.h"

#include "simulate/engine.h"

namespace pipedream::simulate {

Result simulate(const schedule::Schedule& schedule, const plan::Plan& plan,
                const profile::Profile& profile, const cluster::Cluster& cluster,
                const Conditions& conditions, const Sink& sink) {
  return Engine(schedule, plan, profile, cluster, conditions, sink).run();
}

timeline::Timeline timeline_of(const schedule::Schedule& schedule, const plan::Plan& plan,
                               const profile::Profile& profile, const cluster::Cluster& cluster,
                               const Conditions& conditions) {
  timeline::Timeline timeline;
  const auto keep = [&](const timeline::Event& event) { timeline.events.push_back(event); };
  (void)simulate(schedule, plan, profile, cluster, conditions, {keep, keep});
  return timeline;
}

}  // namespace pipedream::simulate
