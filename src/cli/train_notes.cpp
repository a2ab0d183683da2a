#include "cli/train_notes.h"

#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "plan/plan_file.h"
#include "report/plan_table.h"
#include "systems/simulation.h"

namespace pipedream::cli {

std::string crowd_note(const Crowd& crowd) {
  if (crowd.claims() <= crowd.room) return "";
  return std::to_string(crowd.workers) + " workers" +
         (crowd.on_cpu ? " of " + counted(crowd.threads, "thread", "threads") : "") + " share " +
         (crowd.on_cpu ? counted(crowd.room, "core", "cores")
                       : counted(crowd.room, "GPU", "GPUs")) +
         ": they take turns, and train slower than predicted, as if each had its own";
}

std::string small_data_note(std::int64_t samples, std::int64_t batch) {
  if (samples >= batch) return "";
  return "the data set has " + counted(samples, "sample", "samples") + ", fewer than --batch " +
         std::to_string(batch) + ": every minibatch has just these";
}

std::string idle_note(const plan::Plan& plan, int workers) {
  const int idle = workers - plan::worker_count(plan);
  if (idle <= 0) return "";
  return name_of(plan) + ": " + std::to_string(idle) + " of " +
         counted(workers, "worker", "workers") + (idle == 1 ? " has" : " have") + " nothing to do";
}

namespace {

std::int64_t samples_in_update(const plan::Plan& plan, std::int64_t batch) {
  return std::llround(
      systems::samples_per_update(plan, systems::find_system(plan.system).traits, batch));
}

}  // namespace

std::string large_update_note(const plan::Plan& plan, std::int64_t batch, std::int64_t samples) {
  const std::int64_t update = samples_in_update(plan, batch);
  if (plan.accumulate == 1 || update <= samples) return "";
  return name_of(plan) + ": an update is made from " + counted(update, "sample", "samples") +
         ", and the training has " + std::to_string(samples) +
         ", so the weights change once, at its end: choose a smaller --accumulate, or a longer "
         "training";
}

std::string other_updates_note(const checkpoint::Manifest& from, const plan::Plan& plan,
                               const graph::Graph& graph, std::int64_t batch) {
  const auto samples_in = [&](const plan::Plan& of) { return samples_in_update(of, batch); };
  try {
    const plan::PlanFile before = plan::parse_plan(from.plan, "the checkpoint's plan", graph);
    if (samples_in(before.plan) == samples_in(plan)) return "";
    return "an update is made from " + counted(samples_in(plan), "sample", "samples") +
           " from here on, and was made from " + std::to_string(samples_in(before.plan));
  } catch (const Error&) {  // --force, and the plan is of another network
    return "";
  }
}

std::string name_of(const plan::Plan& plan) {
  return plan.system + " " + report::short_config(plan::config_text(plan));
}

}  // namespace pipedream::cli
