// What a schedule would do on a cluster, without running it.
#pragma once

#include <span>

#include "cluster/cluster.h"
#include "plan/plan.h"
#include "profile/profile.h"
#include "schedule/ops.h"
#include "timeline/timeline.h"

namespace pipedream::simulate {

// Runs lowered programs in simulated time. A worker takes its compute ops in order; sends leave
// when the op before them is done, one after another on each ordered pair of workers, and never
// hold the worker up; a compute op waits for the values it takes. Loads and updates take no time
// yet. Pure: the same arguments give the same timeline. Requires programs that validate() accepts
// and a cluster that has all their workers.
[[nodiscard]] timeline::Timeline simulate(std::span<const schedule::Program> programs,
                                          const plan::Plan& plan, const profile::Profile& profile,
                                          const cluster::Cluster& cluster);

}  // namespace pipedream::simulate
