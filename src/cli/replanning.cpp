#include "cli/replanning.h"

#include "cli/interrupt.h"
#include "cli/train_notes.h"
#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "plan/plan_file.h"
#include "report/table.h"
#include "train/run_folder.h"
#include "train/together.h"

namespace pipedream::cli {
namespace {

// "pipedream 1-1-1 (5-5-2 layers)". Plans with equal numbers of workers may have other layers.
std::string with_layers(const plan::Plan& plan) {
  const auto layers = [](const plan::Stage& stage) { return std::to_string(stage.layers.size()); };
  return name_of(plan) + " (" + joined(plan.stages, layers, "-") + " layers)";
}

}  // namespace

Replanning::Replanning(const train::PreparationCase& of, train::Preparation& made, Bytes checkpoint,
                       transport::MpiWorld* world)
    : of_(of), made_(made), checkpoint_(checkpoint), world_(world) {}

void Replanning::watch(const plan::Plan& plan, train::Request& request) {
  if (world_ != nullptr && world_->rank() > 0) return;
  replanner_.emplace(
      [this, plan](const std::vector<double>& ratios) { return better_plan(plan, ratios); });
  request.is_stopped = [this] { return StopOnSignal::was_asked() || replanner_->wants_stop(); };
}

void Replanning::tell(const train::OddWorkers& odd) {
  if (replanner_) replanner_->tell(odd);
}

// Called by the thread that may stop the training, while the training goes on.
std::optional<train::Replanned> Replanning::better_plan(const plan::Plan& current,
                                                        const std::vector<double>& ratios) const {
  try {
    train::want_space(of_.training.checkpoints.folder, checkpoint_, "a checkpoint for a new plan");
  } catch (const IoError& full) {
    log_warning("the plan stays: " + std::string(full.what()));
    return std::nullopt;
  }
  auto found = train::replan(of_, made_, current, ratios);
  if (found)
    log_info("going on with " + with_layers(found->plan.file.plan) + " instead of " +
             with_layers(current) + ": with the workers' speeds now, " +
             report::three_digits(found->after) + " samples/s are simulated instead of " +
             report::three_digits(found->before));
  else
    log_info("the plan stays: with the workers' speeds now, no other is clearly faster than " +
             with_layers(current));
  return found;
}

std::optional<train::PreparedPlan> Replanning::take(const train::TrainingOutcome& outcome,
                                                    train::Request& request) {
  if (!outcome.interrupted || outcome.unsaved) return std::nullopt;
  const graph::Graph& graph = of_.network.graph;
  const std::string text = train::made_by_first(world_, [&]() -> std::string {
    if (StopOnSignal::was_asked() || !replanner_->found()) return "";
    return plan::to_json(replanner_->found()->plan.file, graph);
  });
  if (text.empty()) return std::nullopt;
  const std::string checkpoint = train::made_by_first(world_, [&] {
    return train::to_text(train::newest_checkpoint(request.checkpoints.folder).value());
  });
  request.resumed = train::checkpoint_in(checkpoint);
  has_replanned_ = true;
  if (!replanner_) return train::PreparedPlan{plan::parse_plan(text, "the new plan", graph), {}};
  train::Replanned found = *replanner_->found();
  made_.cluster = std::move(found.cluster);
  return std::move(found.plan);
}

}  // namespace pipedream::cli
