// PipeDream's planner (SOSP 2019, §3.1): a dynamic programme over the levels of the cluster
// (docs/planner.md#the-planners). A component of a level runs a pipeline of its own. The next level
// joins such components into stages, each on one or several components:
//
//     level 1 (server):   [ a b ][ c ]      a pipeline 3-1 on the 4 workers of one server
//     level 2 (room):     4 replicas        the same pipeline in every server: 12-4
//
// So a plan can replicate whole pipelines, but a replication at an outer level multiplies all
// numbers of replicas inside: 15-1 on 4 servers of 4 is not possible here (it is in
// plan/general.h).
#pragma once

#include "cost/cost_model.h"
#include "plan/planner.h"

namespace pipedream::plan {

struct HierarchicalOptions {
  cost::CostModel cost_model = cost::CostModel::kDefault;
  bool straight = false;      // no replicas
  bool fewer_workers = true;  // may leave workers idle if that is faster
  bool limit_memory = true;   // respects the memory limits of the predictor
};

// Returns the best plan of this form under the recurrence of `options.cost_model`
// (cost/cost_model.h). Depths are the paper's (cost::noam over the workers in later stages). Of
// equal plans, the one with the fewest stages wins, then the one with the earliest cuts. Every
// device counts as having the lowest speed and the least memory in the cluster.
//
// The objective is the recurrence's time, and so is the bound, but there is no bound if the cuts
// are not complete. The prediction is by the default cost model. If no plan fits the smallest
// device but the plan with the least memory fits the real ones, that plan is the answer; its
// objective is the predicted time, without a bound.
[[nodiscard]] Outcome plan_hierarchical(const Predictor& predictor,
                                        const HierarchicalOptions& options);

// Returns roughly how many steps plan_hierarchical() takes without a memory limit. It refuses
// problems that would take minutes.
[[nodiscard]] double hierarchical_work(const Predictor& predictor);

// Returns the time per minibatch of data parallelism on the whole cluster under the recurrence of
// `cost_model`, applied level by level.
[[nodiscard]] Seconds data_parallel_time(const Predictor& predictor, cost::CostModel cost_model);

}  // namespace pipedream::plan
