// Data parallelism: every worker holds every layer. Bulk synchronous (dp-bsp): gradients are
// averaged for every update. Asynchronous (dp-asp): gradients and weights pass through parameter
// servers, and workers never wait for each other.
#include "plan/data_parallel.h"

#include "cost/asynchronous_time.h"
#include "cost/bulk_synchronous_time.h"
#include "plan/hierarchical.h"
#include "schedule/asynchronous.h"
#include "schedule/bulk_synchronous.h"
#include "systems/list.h"

namespace pipedream::systems {
namespace {

plan::Candidates plan_bulk_synchronous(const plan::Predictor& predictor, const Wishes& wishes) {
  plan::Outcome outcome = plan::plan_data_parallel(predictor);
  auto* answer = std::get_if<plan::Answer>(&outcome);
  if (answer != nullptr && wishes.cost_model != cost::CostModel::kDefault)
    answer->objective = plan::data_parallel_time(predictor, wishes.cost_model);
  return only(std::move(outcome));
}

plan::Candidates plan_asynchronous(const plan::Predictor& predictor, const Wishes&) {
  return only(plan::plan_data_parallel(predictor));
}

}  // namespace

System dp_bsp() {
  return {.name = "dp-bsp",
          .about = "every worker holds every layer; gradients averaged for every update",
          .traits = {.one_stage = true, .flushes = true, .replicas = cost::Replicas::kTakeTurns},
          .options = {Option::kExchange, Option::kCostModel, Option::kAccumulate},
          .preference = 0,
          .plan = plan_bulk_synchronous,
          .time = cost::bulk_synchronous_time,
          .schedule = schedule::bulk_synchronous};
}

// `auto` never takes dp-asp: how stale its weights get depends on timing.
System dp_asp() {
  return {.name = "dp-asp",
          .about =
              "every worker holds every layer; gradients and weights through servers, nobody waits",
          .traits = {.one_stage = true,
                     .flushes = true,
                     .replicas = cost::Replicas::kTakeTurns,
                     .asynchronous = true},
          .plan = plan_asynchronous,
          .time = cost::asynchronous_time,
          .schedule = schedule::asynchronous};
}

}  // namespace pipedream::systems
