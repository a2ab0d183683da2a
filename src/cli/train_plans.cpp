#include "cli/train_plans.h"

#include <algorithm>
#include <chrono>
#include <iostream>

#include "cli/flags.h"
#include "cli/own_schedule.h"
#include "cli/progress.h"
#include "cluster/cluster_file.h"
#include "cluster/local.h"
#include "core/error.h"
#include "model/device.h"
#include "train/profiling.h"
#include "transport/mpi.h"

namespace pipedream::cli {
namespace {

using systems::Planned;

cluster::Cluster cluster_for(const PlanningTask& task) {
  const TrainFlags& flags = task.flags;
  if (flags.cluster.empty())
    return cluster::this_machine(task.workers, link_of(flags),
                                 model::memory_of_worker(task.computing.device, task.here));
  cluster::Cluster cluster = cluster::read_cluster(flags.cluster);
  if (cluster.workers() != task.workers)
    throw CannotMeet("--cluster " + flags.cluster + " has " + std::to_string(cluster.workers()) +
                     " workers, and " + std::to_string(task.workers) +
                     " are to train: choose as many --workers");
  return cluster;
}

// Layer ids of a profile and of the network must mean the same.
void want_same_layers(const PlanningTask& task, const profile::Profile& profile) {
  const auto& found = profile.graph.layers();
  const auto& wanted = task.network.graph.layers();
  for (std::size_t i = 0; i < std::max(found.size(), wanted.size()); ++i) {
    const std::string have = i < found.size() ? "'" + found[i].name + "'" : "none";
    const std::string want = i < wanted.size() ? "'" + wanted[i].name + "'" : "none";
    if (have != want)
      throw CannotMeet("--profile " + task.flags.profile + " is of another network: layer " +
                       std::to_string(i) + " is " + have + ", wanted " + want);
  }
  const auto& values = task.network.graph.values();
  if (profile.graph.values().size() != values.size())
    throw CannotMeet("--profile " + task.flags.profile + " is of another network: it has " +
                     std::to_string(profile.graph.values().size()) + " values, wanted " +
                     std::to_string(values.size()));
  if (task.computing.precision != model::Precision::kFloat) return;  // sizes are as they were seen
  for (std::size_t v = 0; v < values.size(); ++v) {
    const graph::Value& is = profile.graph.values()[v];
    const graph::Value& should_be = values[v];
    if (is.bytes != should_be.bytes)
      throw CannotMeet("--profile " + task.flags.profile + " is of a network of other sizes: '" +
                       wanted[should_be.producer.index()].name + "' makes " + to_text(is.bytes) +
                       " there, wanted " + to_text(should_be.bytes));
  }
}

// Times of one kind of device say nothing about another.
void want_same_machine(const PlanningTask& task, const profile::Profile& profile) {
  const auto refuse = [&](const std::string& measured, const std::string& wanted) {
    throw CannotMeet("--profile " + task.flags.profile + " was measured " + measured +
                     ", and training is to be " + wanted + ": measure another");
  };
  if (!profile.device.empty() && !task.flags.device.empty() &&
      model::device_named(profile.device).type() != task.computing.device.type())
    refuse("on " + profile.device, "on " + task.flags.device);
  if (!profile.precision.empty() && !task.flags.precision.empty() &&
      profile.precision != task.flags.precision)
    refuse("in " + profile.precision, "in " + task.flags.precision);
}

profile::Profile profile_for(const PlanningTask& task) {
  const TrainFlags& flags = task.flags;
  if (!flags.profile.empty()) {
    profile::Profile profile = read_profile_for(flags.profile, task.network.batch);
    want_same_machine(task, profile);
    want_same_layers(task, profile);
    return profile;
  }
  Progress progress("profiling " + task.network.name);
  return train::profile_for_training(
      task.network,
      {.device = model::device_of_worker(task.computing.device, 0),
       .precision = task.computing.precision,
       .threads = flags.threads,
       .seed = flags.seed,
       .budget = std::chrono::duration<double>(flags.profile_seconds),
       .progress = [&](double share, const std::string& what) { progress.show(share, what); },
       .workers = task.here},
      task.optimiser);
}

systems::Simulated simulated(const PlanningTask& task, const profile::Profile& profile,
                             const cluster::Cluster& cluster, plan::Plan plan) {
  systems::SimulationWishes wishes;
  take_over(wishes_of(task.flags), wishes);
  wishes.conditions.loading = false;  // what is read here lies in memory
  take_over(task.flags, wishes.schedule_options);
  OwnSchedule own;
  if (!task.flags.schedule.empty()) {
    own = read_own_schedule(task.flags.schedule, plan, task.network.graph);
    take_over(own, plan, wishes);
  }
  return systems::simulate_plan(plan, profile, cluster, wishes);
}

Prepared prepared(const PlanningTask& task, const profile::Profile& profile,
                  const cluster::Cluster& cluster, const Planned& planned) {
  return {systems::plan_file_of(planned, profile, task.workers, Seconds(0)),
          simulated(task, profile, cluster, planned.plan)};
}

void forget_speed(plan::Predicted& predicted) {
  predicted.samples_per_second.reset();
  predicted.speedup_over_dp.reset();
  predicted.gap.reset();
}

Preparation given_plan(const PlanningTask& task) {
  const TrainFlags& flags = task.flags;
  Preparation preparation;
  plan::PlanFile file =
      read_plan_for(flags.plan, task.network.graph, task.workers,
                    "and " + std::to_string(task.workers) + (task.workers == 1 ? " is" : " are") +
                        " to train: take more, or plan anew with --system auto");
  if (flags.forgets_prediction) forget_speed(file.predicted);
  if (file.device.empty()) file.device = task.computing.device.is_cpu() ? "cpu" : "cuda";
  if (file.precision.empty()) file.precision = model::to_text(task.computing.precision);
  const cluster::Cluster cluster = cluster_for(task);
  preparation.hosts = cluster::hosts(cluster);
  if (!flags.profile.empty()) preparation.profile = profile_for(task);
  preparation.runs.push_back({std::move(file), {}});
  Prepared& run = preparation.runs.back();
  if (preparation.profile)
    run.simulated = simulated(task, *preparation.profile, cluster, run.file.plan);
  return preparation;
}

// The network as if all layers took equally long.
profile::Profile made_up_profile(const model::Network& network) {
  constexpr Nanos kForward = std::chrono::milliseconds(1);
  profile::Profile profile;
  profile.model = network.name;
  profile.batch = network.batch;
  profile.graph = network.graph;
  for (const graph::Layer& layer : network.graph.layers()) {
    profile::LayerCost& cost = profile.costs.emplace_back();
    if (layer.is_input) continue;
    cost.forward = kForward;
    cost.backward = 2 * kForward;
  }
  return profile;
}

// Plans once with a made-up profile and memory without end: a refusal that no profile changes comes
// before the seconds that measuring one takes. Whatever depends on times is left to the real one:
// the choice of `auto`, and replicas, which vertical sync does not know.
void rehearse(const PlanningTask& task, cluster::Cluster cluster) {
  const TrainFlags& flags = task.flags;
  const systems::Wishes wishes = wishes_of(flags);
  const bool named = flags.system != "auto" && flags.system != "all";
  if (!named && !wishes.stages && wishes.split.empty()) return;  // some system has a plan
  const profile::Profile profile = made_up_profile(task.network);
  for (cluster::Device& device : cluster.devices) device.memory = profile::kLargestInAll;
  TrainFlags asked = flags;
  asked.memory.clear();
  if (!named) asked.system = "auto";
  if (named && flags.vertical_sync &&
      systems::knows(systems::find_system(flags.system), systems::Option::kVerticalSync))
    asked.wishes.straight = true;
  std::string table;
  const Planned planned = planned_for(asked, systems::Model(profile), cluster, table);
  if (named) task.check(planned.plan);
}

// Whether it can be trained with; else it is put down among the refused.
bool can_train(const PlanningTask& task, const plan::Plan& plan, Preparation& preparation) {
  try {
    task.check(plan);
    return true;
  } catch (const CannotMeet& refusal) {
    preparation.refused.push_back({plan.system, refusal.what()});
    return false;
  }
}

void prepare_all(const PlanningTask& task, const systems::Model& model,
                 const cluster::Cluster& cluster, Preparation& preparation) {
  const systems::Choice choice = systems::plan_for_all(model, cluster, wishes_of(task.flags));
  if (choice.best) preparation.automatic = choice.candidates[*choice.best].system->name;
  for (const systems::Candidate& candidate : choice.candidates) {
    const std::string& name = candidate.system->name;
    if (const auto* refusal = std::get_if<plan::Refusal>(&candidate.result))
      preparation.refused.push_back({name, refusal->why});
    else if (const auto& planned = std::get<Planned>(candidate.result);
             can_train(task, planned.plan, preparation))
      preparation.runs.push_back(prepared(task, model.profile, cluster, planned));
  }
}

}  // namespace

Preparation prepare_plans(const PlanningTask& task) {
  if (!task.flags.plan.empty()) return given_plan(task);
  Preparation preparation;
  const cluster::Cluster cluster = cluster_for(task);
  preparation.hosts = cluster::hosts(cluster);
  if (task.flags.profile.empty()) rehearse(task, cluster);
  preparation.profile = profile_for(task);
  const systems::Model model(*preparation.profile);
  if (task.flags.system == "all") {
    prepare_all(task, model, cluster, preparation);
    return preparation;
  }
  const Planned planned = planned_for(task.flags, model, cluster, preparation.table);
  for (const std::string& line : unmet_wishes(task.flags, planned)) std::cerr << line << "\n";
  preparation.runs.push_back(prepared(task, *preparation.profile, cluster, planned));
  return preparation;
}

Preparation shared_plans(const PlanningTask& task, transport::MpiWorld& world) {
  constexpr int kPlans = 0;
  const auto channel = world.connect();
  if (world.rank() == 0) {
    Preparation preparation = prepare_plans(task);
    for (int rank = 1; rank < world.size(); ++rank) {
      channel->send({rank}, kPlans, {{static_cast<std::int64_t>(preparation.runs.size())}, {}, {}});
      for (const Prepared& run : preparation.runs) {
        const auto text =
            std::make_shared<const std::string>(plan::to_json(run.file, task.network.graph));
        channel->send({rank}, kPlans, {{}, std::as_bytes(std::span(*text)), text});
      }
    }
    return preparation;
  }
  // The first process may profile and plan for long; if it fails, all are aborted.
  const auto next = [&] {
    return channel->wait(channel->receive({0}, kPlans), transport::Deadline::max());
  };
  Preparation preparation;
  const std::int64_t count = next().header.at(0);
  for (std::int64_t i = 0; i < count; ++i) {
    const transport::Message message = next();
    const std::string_view text(reinterpret_cast<const char*>(message.bytes.data()),
                                message.bytes.size());
    preparation.runs.push_back(
        {plan::parse_plan(text, "the first process's plan", task.network.graph), {}});
  }
  return preparation;
}

}  // namespace pipedream::cli
