#include "train/preparation.h"

#include <algorithm>
#include <chrono>

#include "cluster/cluster_file.h"
#include "cluster/local.h"
#include "core/error.h"
#include "model/device.h"
#include "profile/profile_file.h"
#include "report/table.h"
#include "systems/own_schedule.h"
#include "systems/staleness.h"
#include "train/profiling.h"
#include "train/together.h"

namespace pipedream::train {
namespace {

using systems::Planned;

cluster::Cluster cluster_for(const PreparationCase& of) {
  const std::filesystem::path& file = of.plan.cluster;
  if (file.empty())
    return cluster::this_machine(of.workers.count, of.training.link,
                                 model::memory_of_worker(of.computing.device, of.workers.here));
  cluster::Cluster cluster = cluster::read_cluster(file);
  if (cluster.workers() != of.workers.count)
    throw CannotMeet("`cluster` " + file.string() + " has " + std::to_string(cluster.workers()) +
                     " workers, and " + std::to_string(of.workers.count) +
                     " are to train: choose the same number of `workers`");
  return cluster;
}

// Throws CannotMeet unless the profile has the network's layers and values, in the same order, so
// that layer ids mean the same in both. In float, the sizes of the values must be equal too.
void want_same_layers(const PreparationCase& of, const profile::Profile& profile) {
  const auto& found = profile.graph.layers();
  const auto& wanted = of.network.graph.layers();
  for (std::size_t i = 0; i < std::max(found.size(), wanted.size()); ++i) {
    const std::string have = i < found.size() ? "'" + found[i].name + "'" : "none";
    const std::string want = i < wanted.size() ? "'" + wanted[i].name + "'" : "none";
    if (have != want)
      throw CannotMeet("`profile` " + of.plan.profile.string() + " is of another network: layer " +
                       std::to_string(i) + " is " + have + ", wanted " + want);
  }
  const auto& values = of.network.graph.values();
  if (profile.graph.values().size() != values.size())
    throw CannotMeet("`profile` " + of.plan.profile.string() + " is of another network: it has " +
                     std::to_string(profile.graph.values().size()) + " values, wanted " +
                     std::to_string(values.size()));
  // In bfloat16 a profile has measured sizes, which may be smaller than those that graphs declare.
  if (of.computing.precision != model::Precision::kFloat) return;
  for (std::size_t v = 0; v < values.size(); ++v) {
    const graph::Value& is = profile.graph.values()[v];
    const graph::Value& should_be = values[v];
    if (is.bytes != should_be.bytes)
      throw CannotMeet("`profile` " + of.plan.profile.string() +
                       " is of a network of other sizes: '" +
                       wanted[should_be.producer.index()].name + "' makes " + to_text(is.bytes) +
                       " there, wanted " + to_text(should_be.bytes));
  }
}

// Throws CannotMeet if the profile was measured on another kind of device, or in another precision,
// than the user asks for: such times say nothing about the training.
void want_same_machine(const PreparationCase& of, const profile::Profile& profile) {
  const auto refuse = [&](const std::string& measured, const std::string& wanted) {
    throw CannotMeet("`profile` " + of.plan.profile.string() + " was measured " + measured +
                     ", and training is to be " + wanted + ": measure another");
  };
  if (!profile.device.empty() && !of.training.computing.device.empty() &&
      model::device_named(profile.device).type() != of.computing.device.type())
    refuse("on " + profile.device, "on " + of.training.computing.device);
  if (!profile.precision.empty() && !of.training.computing.precision.empty() &&
      profile.precision != of.training.computing.precision)
    refuse("in " + profile.precision, "in " + of.training.computing.precision);
}

// Returns the inputs of a minibatch of `data`, which begins again at its end.
model::MakeInput inputs_of(const data::DataSet& data, std::int64_t batch) {
  return [&data, batch](const model::InputSpec& input, std::int64_t minibatch) {
    std::vector<std::int64_t> samples(static_cast<std::size_t>(batch));
    for (std::size_t i = 0; i < samples.size(); ++i)
      samples[i] = (minibatch * batch + static_cast<std::int64_t>(i)) % data.samples();
    return data.load(input, samples);
  };
}

profile::Profile profile_for(const PreparationCase& of) {
  if (!of.plan.profile.empty()) {
    profile::Profile profile = profile::read_profile(of.plan.profile, of.network.batch);
    want_same_machine(of, profile);
    want_same_layers(of, profile);
    return profile;
  }
  return profile_for_training(of.network,
                              {.device = model::device_of_worker(of.computing.device, 0),
                               .precision = of.computing.precision,
                               .threads = of.training.threads,
                               .seed = of.training.seed,
                               .budget = std::chrono::duration<double>(of.plan.profile_seconds),
                               .progress = of.progress,
                               .make_input = inputs_of(of.data, of.network.batch),
                               .workers = of.workers.here,
                               .bind_cores = of.training.bind_cores},
                              of.training.optimiser);
}

void forget_speed(plan::Predicted& predicted) {
  predicted.simulated_seconds_per_minibatch.reset();
  predicted.samples_per_second.reset();
  predicted.speedup_over_dp.reset();
  predicted.gap.reset();
}

Preparation given_plan(const PreparationCase& of) {
  Preparation preparation;
  const int workers = of.workers.count;
  plan::PlanFile file =
      systems::read_plan_for(of.plan.plan, of.network.graph, workers,
                             "and " + std::to_string(workers) + (workers == 1 ? " is" : " are") +
                                 " to train: take more, or plan anew with `system` auto");
  preparation.forgets_prediction = of.plan.forgets_prediction;
  if (!preparation.forgets_prediction && file.batch && *file.batch != of.network.batch) {
    preparation.forgets_prediction = true;
    preparation.notes.push_back("`plan` " + of.plan.plan.string() +
                                " was made for minibatches of " + std::to_string(*file.batch) +
                                " samples, and these have " + std::to_string(of.network.batch) +
                                ": what it predicts does not hold");
  }
  file.batch = of.network.batch;
  if (preparation.forgets_prediction) forget_speed(file.predicted);
  if (file.device.empty()) file.device = of.computing.device.is_cpu() ? "cpu" : "cuda";
  if (file.precision.empty()) file.precision = model::to_text(of.computing.precision);
  const cluster::Cluster cluster = cluster_for(of);
  preparation.hosts = cluster::hosts(cluster);
  preparation.cluster = cluster;
  if (!of.plan.profile.empty()) preparation.profile = profile_for(of);
  PreparedPlan& plan = preparation.plans.emplace_back(PreparedPlan{std::move(file), {}});
  if (preparation.profile)
    plan.simulated = simulated(of, *preparation.profile, cluster, plan.file.plan);
  return preparation;
}

// A profile of the network in which all layers take equally long.
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

// Plans once with a made-up profile and unlimited memory, so that a refusal that does not depend on
// the profile comes before a profile is measured, which takes seconds. What depends on times is not
// checked here: which system `auto` chooses, and whether stages get replicas. With vertical sync,
// which allows no replicas, the rehearsal therefore plans without replicas.
void rehearse(const PreparationCase& of, cluster::Cluster cluster) {
  const std::string& system = of.plan.system;
  systems::Wishes wishes = wishes_of(of);
  const bool named = system != systems::kAutomatic && system != kEverySystem;
  if (!named && !wishes.stages && wishes.split.empty()) return;  // some system has a plan
  const profile::Profile profile = made_up_profile(of.network);
  for (cluster::Device& device : cluster.devices) device.memory = profile::kLargestInAll;
  wishes.memory.reset();
  if (named && of.training.vertical_sync &&
      systems::knows(systems::find_system(system), systems::Option::kVerticalSync))
    wishes.straight = true;
  const Planned planned = systems::plan_with(named ? system : systems::kAutomatic,
                                             systems::Model(profile), cluster, wishes)
                              .planned;
  if (named) check_plan(of, planned.plan);
}

// Says that the profile was measured on a machine whose speed was not steady. Empty if it was.
std::string unsteady_note(const profile::Profile& profile) {
  if (!profile::was_unsteady(profile)) return "";
  return "the machine was not steady while the network was profiled: the times of passes are " +
         report::percent(*profile.spread) + " apart, and predictions may be off by as much";
}

// Whether the plan can be trained with. If not, adds its system to `preparation.refused`.
bool can_train(const PreparationCase& of, const plan::Plan& plan, Preparation& preparation) {
  try {
    check_plan(of, plan);
    return true;
  } catch (const CannotMeet& refusal) {
    preparation.refused.push_back({plan.system, refusal.what()});
    return false;
  }
}

void prepare_every_system(const PreparationCase& of, const systems::Model& model,
                          const cluster::Cluster& cluster, Preparation& preparation) {
  const systems::Choice choice = systems::plan_for_all(model, cluster, wishes_of(of));
  if (choice.best) preparation.automatic = choice.candidates[*choice.best].system->name;
  for (const systems::Candidate& candidate : choice.candidates) {
    const std::string& name = candidate.system->name;
    if (const auto* refusal = std::get_if<plan::Refusal>(&candidate.result))
      preparation.refused.push_back({name, refusal->why});
    else if (const auto& planned = std::get<Planned>(candidate.result);
             can_train(of, planned.plan, preparation))
      preparation.plans.push_back(prepared(of, model.profile, cluster, planned));
  }
}

}  // namespace

systems::Wishes wishes_of(const PreparationCase& of) {
  systems::Wishes wishes = of.plan.wishes;
  const std::string& system = of.plan.system;
  const bool may_cut = system == systems::kAutomatic || system == kEverySystem ||
                       systems::knows(systems::find_system(system), systems::Option::kMicrobatches);
  if (of.network.has_fixed_batch && may_cut && !wishes.microbatches) wishes.microbatches = 1;
  return wishes;
}

systems::Simulated simulated(const PreparationCase& of, const profile::Profile& profile,
                             const cluster::Cluster& cluster, plan::Plan plan) {
  systems::SimulationWishes wishes;
  wishes.conditions.exchange = of.training.exchange;
  wishes.conditions.loading = false;  // data sets are in memory, so reading them takes no time
  wishes.optimiser_copies = of.plan.wishes.optimiser_copies;
  wishes.schedule_options.vertical_sync = of.training.vertical_sync;
  wishes.schedule_options.no_stash = of.training.no_stash;
  systems::OwnSchedule own;
  if (!of.plan.schedule.empty()) {
    own = systems::read_own_schedule(of.plan.schedule.string(), plan, of.network.graph);
    take_over(own, plan, wishes);
  }
  return systems::simulate_plan(plan, profile, cluster, wishes);
}

PreparedPlan prepared(const PreparationCase& of, const profile::Profile& profile,
                      const cluster::Cluster& cluster, const Planned& planned) {
  return {systems::plan_file_of(planned, profile, of.workers.count, Seconds(0)),
          simulated(of, profile, cluster, planned.plan)};
}

void check_plan(const PreparationCase& of, const plan::Plan& plan) {
  if (!of.plan.schedule.empty()) return;
  const plan::PlanFile file{.model = of.network.name, .workers = of.workers.count, .plan = plan};
  Request request = of.training;
  request.checkpoints.folder.clear();  // a manifest would need what the plan predicts
  (void)Session(of.network, file, request, nullptr, nullptr);
}

Preparation prepare(const PreparationCase& of) {
  if (!of.plan.plan.empty()) return given_plan(of);
  Preparation preparation;
  const cluster::Cluster cluster = cluster_for(of);
  preparation.hosts = cluster::hosts(cluster);
  preparation.cluster = cluster;
  if (of.plan.profile.empty()) rehearse(of, cluster);
  preparation.profile = profile_for(of);
  const systems::Model model(*preparation.profile);
  if (of.plan.system == kEverySystem) {
    prepare_every_system(of, model, cluster, preparation);
    return preparation;
  }
  systems::Decision decision = systems::plan_with(of.plan.system, model, cluster, wishes_of(of));
  preparation.notes = systems::unmet_wishes(of.plan.wishes, decision.planned);
  if (const std::string note = unsteady_note(*preparation.profile); !note.empty())
    preparation.notes.push_back(note);
  if (decision.choice)
    if (auto note = systems::staleness_note(decision.planned.plan))
      preparation.notes.push_back(*note);
  preparation.plans.push_back(prepared(of, *preparation.profile, cluster, decision.planned));
  preparation.choice = std::move(decision.choice);
  return preparation;
}

void check_preparation(const PreparationCase& of) {
  if (of.plan.plan.empty())
    rehearse(of, cluster_for(of));
  else
    (void)given_plan(of);
}

Preparation prepare_together(const PreparationCase& of, transport::MpiWorld& world) {
  Preparation preparation;
  const std::string count = made_by_first(&world, [&] {
    preparation = prepare(of);
    return std::to_string(preparation.plans.size());
  });
  for (std::size_t i = 0; i < std::stoul(count); ++i) {
    const std::string text = made_by_first(
        &world, [&] { return plan::to_json(preparation.plans[i].file, of.network.graph); });
    if (world.rank() > 0)
      preparation.plans.push_back(
          {plan::parse_plan(text, "the first process's plan", of.network.graph), {}});
  }
  return preparation;
}

}  // namespace pipedream::train
