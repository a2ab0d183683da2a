// PipeDream's planner (SOSP 2019, §3.1; SYSTEMS §2): a dynamic programme over the levels of the
// network. A component of a level runs a pipeline of its own, and a level joins such components
// into stages, each on one or several of them:
//
//     level 1 (server):   [ a b ][ c ]      a pipeline 3-1 on the 4 workers of one server
//     level 2 (room):     that ×4           the same in every server: 12-4
//
// So a plan can replicate pipelines, but an outer replication multiplies all inner counts: 15-1 on
// 4 servers of 4 is out of reach (plan/general.h).
#pragma once

#include "cost/variant.h"
#include "plan/planner.h"

namespace pipedream::plan {

struct HierarchicalOptions {
  cost::Variant variant = cost::Variant::kDefault;
  bool straight = false;      // no replicas
  bool fewer_workers = true;  // where that is faster
  bool limit_memory = true;   // to what the predictor's conditions and the devices say
};

// The best plan of this form under the variant's recurrence, with the paper's number of minibatches
// in flight (cost::noam over the workers allotted downstream). Ties: the fewest stages, then the
// earliest cuts. objective = bound = the recurrence's time (no bound where not all cuts are known);
// the prediction is the default model's. Devices count as the slowest and smallest of the cluster.
[[nodiscard]] Outcome plan_hierarchical(const Predictor& predictor,
                                        const HierarchicalOptions& options);

// Roughly how many steps plan_hierarchical takes without a memory limit. It refuses what would take
// minutes.
[[nodiscard]] double hierarchical_work(const Predictor& predictor);

// Plain data parallelism on the whole cluster under the same recurrence, level by level.
[[nodiscard]] Seconds data_parallel_time(const Predictor& predictor, cost::Variant variant);

}  // namespace pipedream::plan
