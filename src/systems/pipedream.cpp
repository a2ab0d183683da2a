// PipeDream (SOSP 2019): 1F1B over whole minibatches, no flush, weight stashing.
#include "cost/one_f_one_b_time.h"
#include "plan/general.h"
#include "plan/hierarchical.h"
#include "plan/relaxation.h"
#include "schedule/one_f_one_b.h"
#include "systems/depth_rules.h"
#include "systems/list.h"

namespace pipedream::systems {
namespace {

// Plans with PipeDream's own planner, level by level (plan/hierarchical.h).
plan::Outcome plan_by_levels(const plan::Predictor& predictor, const Wishes& wishes) {
  if (wishes.depth == cost::Depth::kUpTo)
    return plan::Refusal{"`depth` N is for our planner: PipeDream's has its own rule (noam)", {}};
  plan::Outcome outcome = plan::plan_hierarchical(
      predictor, {.cost_model = wishes.cost_model,
                  .straight = wishes.straight,
                  // The published optimiser uses every machine unless told otherwise.
                  .fewer_workers = wishes.cost_model != cost::CostModel::kPublished});
  auto* answer = std::get_if<plan::Answer>(&outcome);
  if (answer != nullptr && wishes.cost_model == cost::CostModel::kDefault) {
    // The default cost model knows more than the recurrence, so its prediction is the objective.
    answer->objective = answer->prediction.per_minibatch;
    answer->bound =
        std::min(answer->objective, Seconds(plan::Relaxation(predictor, wishes.straight).bound()));
  }
  return outcome;
}

plan::Candidates plan_pipedream(const plan::Predictor& predictor, const Wishes& wishes) {
  if (wishes.cost_model != cost::CostModel::kDefault || wishes.hierarchical)
    return only(plan_by_levels(predictor, wishes));
  return plan_for_depths(predictor, [&](const plan::Predictor& with) {
    return plan::plan_general(with, {.straight = wishes.straight});
  });
}

}  // namespace

System pipedream() {
  return {
      .name = "pipedream",
      .about = "1F1B without flush, weight stashing, replicated stages",
      .traits = {.replicas = cost::Replicas::kTakeTurns,
                 .recomputes = true,
                 .in_flight = cost::InFlight::kDepth,
                 .versions = cost::WeightVersions::kStashed},
      .options = {Option::kStraight, Option::kDepth, Option::kHierarchical, Option::kExchange,
                  Option::kCostModel, Option::kVerticalSync, Option::kNoStash, Option::kAccumulate},
      .preference = 6,
      .looks_at_all_cuts = true,
      .plan = plan_pipedream,
      .time = cost::one_f_one_b_time,
      .schedule = schedule::one_f_one_b};
}

}  // namespace pipedream::systems
