#include "systems/training.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "schedule/asynchronous.h"
#include "schedule/bulk_synchronous.h"
#include "schedule/dapple.h"
#include "schedule/depths.h"
#include "schedule/gpipe.h"
#include "schedule/interleaved.h"
#include "schedule/model_parallel.h"
#include "schedule/one_f_one_b.h"
#include "schedule/two_buffered.h"

namespace pipedream::systems {
namespace {

using cost::Rule;

[[noreturn]] void refuse(const plan::Plan& plan, const std::string& why) {
  throw CannotMeet("a plan " + plan::config_text(plan) + " for " + plan.system + ": " + why);
}

bool has_replicas(const plan::Plan& plan) {
  return std::any_of(plan.stages.begin(), plan.stages.end(),
                     [](const plan::Stage& stage) { return stage.workers.size() > 1; });
}

void want_straight(const plan::Plan& plan) {
  if (has_replicas(plan)) refuse(plan, "it knows no replicated stages");
}

void want_one_stage_each(const plan::Plan& plan) {
  std::set<WorkerId> seen;
  for (const plan::Stage& stage : plan.stages)
    for (const WorkerId worker : stage.workers)
      if (!seen.insert(worker).second)
        refuse(plan, "worker " + std::to_string(worker.value) + " has two stages; only " +
                         "interleaved pipelines know that");
}

void want_whole_minibatches(const plan::Plan& plan) {
  if (plan.microbatches > 1)
    refuse(plan, "it does not cut minibatches, found " + std::to_string(plan.microbatches) +
                     " microbatches");
  if (find_system(plan.system).rule == Rule::kPipedream) return;
  for (const plan::Stage& stage : plan.stages)
    if (stage.recompute) refuse(plan, "it keeps what it needs, and recomputes nothing");
}

void want_dealt_out(const plan::Plan& plan) {
  want_straight(plan);
  std::size_t workers = 1;
  while (workers < plan.stages.size() &&
         plan.stages[workers].workers != plan.stages.front().workers)
    ++workers;
  std::set<WorkerId> seen;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    if (s < workers) seen.insert(plan.stages[s].workers.front());
    if (plan.stages[s].workers != plan.stages[s % workers].workers ||
        plan.stages.size() % workers != 0 || (s < workers && seen.size() != s + 1))
      refuse(plan, "its stages must go to the workers in turn, as many to each");
  }
}

void want_two_versions(const plan::Plan& plan) {
  for (const plan::Stage& stage : plan.stages)
    if (stage.workers.size() != plan.stages.front().workers.size())
      refuse(plan, "all stages must have as many replicas");
  for (const int depth : schedule::runnable_depths(plan, schedule::Sharing::kTurns))
    if (depth > plan.microbatches + 1)
      refuse(plan, std::to_string(depth) + " microbatches in flight need at least " +
                       std::to_string(depth - 1) + " in a minibatch, found " +
                       std::to_string(plan.microbatches));
}

schedule::Versions versions_of(const plan::Plan& plan, const Training& training) {
  if (training.vertical_sync && training.no_stash)
    throw BadUsage("--vertical-sync keeps weights that --no-stash throws away: choose one");
  if (training.vertical_sync && has_replicas(plan))
    refuse(plan, "--vertical-sync works without replicas only (plan with --straight)");
  if (training.vertical_sync) return schedule::Versions::kVerticalSync;
  return training.no_stash ? schedule::Versions::kNewest : schedule::Versions::kStashed;
}

}  // namespace

schedule::Schedule schedule_for(const plan::Plan& plan, const Training& training) {
  const Rule rule = find_system(plan.system).rule;
  if ((training.vertical_sync || training.no_stash) && rule != Rule::kPipedream)
    throw BadUsage(std::string(training.vertical_sync ? "--vertical-sync" : "--no-stash") +
                   " is for pipedream; this plan is for " + plan.system +
                   ", which has its own weight rule (choose --system pipedream)");
  schedule::Extent extent = schedule::whole_minibatches(plan, training.minibatches);
  if (training.last_microbatches) extent.last = *training.last_microbatches;
  if (rule != Rule::kInterleaved) want_one_stage_each(plan);
  switch (rule) {
    case Rule::kModelParallel:
      want_straight(plan);
      want_whole_minibatches(plan);
      return schedule::model_parallel(plan, extent);
    case Rule::kDataParallel:
    case Rule::kAsynchronous:
      if (plan.stages.size() != 1) refuse(plan, "every worker must hold every layer");
      want_whole_minibatches(plan);
      return rule == Rule::kDataParallel ? schedule::bulk_synchronous(plan, extent)
                                         : schedule::asynchronous(plan, extent);
    case Rule::kGpipe:
      want_straight(plan);
      return schedule::gpipe(plan, extent);
    case Rule::kDapple:
      return schedule::dapple(plan, extent);
    case Rule::kPipedream:
      want_whole_minibatches(plan);
      return schedule::one_f_one_b(plan, extent, versions_of(plan, training));
    case Rule::kTwoBuffered:
      want_two_versions(plan);
      return schedule::two_buffered(plan, extent);
    case Rule::kInterleaved:
      want_dealt_out(plan);
      return schedule::interleaved(plan, extent);
  }
  throw CannotMeet(plan.system + " has no schedule");
}

}  // namespace pipedream::systems
