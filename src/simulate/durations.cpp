#include "simulate/durations.h"

#include <algorithm>
#include <array>

#include "core/philox.h"

namespace pipedream::simulate {
namespace {

// Returns the part of a minibatch's reading time that the stage takes. It is proportional to the
// bytes of the inputs that the stage uses.
double input_share(const profile::Profile& profile, const plan::Stage& stage) {
  double all = 0;
  double own = 0;
  for (const graph::Value& value : profile.graph.values()) {
    if (!profile.graph.layer(value.producer).is_input) continue;
    const auto bytes = static_cast<double>(value.bytes.count);
    all += bytes;
    for (const LayerId layer : stage.layers)
      if (std::binary_search(value.consumers.begin(), value.consumers.end(), layer)) {
        own += bytes;
        break;
      }
  }
  return all > 0 ? own / all : 1;
}

}  // namespace

cost::ItemShare item_share(const schedule::Routes& routes, const profile::Profile& profile,
                           StageId stage) {
  return cost::item_share(routes.shares_items(), routes.replicas({0}), routes.replicas(stage),
                          routes.plan().microbatches, profile.batch);
}

ItemTimes item_times(const schedule::Routes& routes, const profile::Profile& profile,
                     const cluster::Cluster& cluster, const Conditions& conditions, StageId stage,
                     int replica) {
  const plan::Stage& layers = routes.plan().stage(stage);
  const WorkerId worker = routes.worker(stage, replica);
  double speed = cluster.devices.at(worker.index()).speed;
  for (const Straggler& straggler : conditions.stragglers)
    if (straggler.worker == worker) speed *= straggler.speed;
  const cost::ItemShare item = item_share(routes, profile, stage);
  const double share = item.on_replica(item.replicas > 1 ? replica : 0);
  const cost::StageTime of = cost::stage_time(profile, layers.layers, routes.replicas(stage) > 1,
                                              routes.plan().accumulate);
  const auto time = [&](Nanos whole, Nanos fixed) {
    return from_seconds(cost::time_of_part(whole, fixed, share).count() / speed);
  };
  ItemTimes times;
  times.forward = time(of.forward, of.fixed_forward);
  times.backward = time(of.backward, of.fixed_backward);
  times.bytes_share = item.of_minibatch();
  if (routes.loads(stage) && conditions.loading)
    times.load = from_seconds(to_seconds(profile.input) * share * input_share(profile, layers));
  return times;
}

double jitter_of(const Conditions& conditions, WorkerId worker, StageId stage, schedule::Item item,
                 int what) {
  if (conditions.jitter == 0) return 1;
  std::array<float, 1> random{};
  fill_uniform({.seed = conditions.seed,
                .layer = (std::int64_t{worker.value} << 32) | stage.value,
                .minibatch = item.minibatch,
                .microbatch = item.microbatch,
                .draw = what},
               random);
  return 1 + conditions.jitter * (2.0 * random[0] - 1);
}

}  // namespace pipedream::simulate
