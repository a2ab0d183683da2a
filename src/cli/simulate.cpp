// pipedream simulate: what a plan would do on a cluster, without running it.
#include <chrono>
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/page_flags.h"
#include "cli/page_run.h"
#include "cli/pictures.h"
#include "cli/planning.h"
#include "cli/progress.h"
#include "cli/simulation_flags.h"
#include "cli/spelling.h"
#include "core/error.h"
#include "plan/plan_file.h"
#include "profile/profile_file.h"
#include "report/plan_table.h"
#include "report/simulation_table.h"
#include "report/table.h"
#include "systems/own_schedule.h"

namespace pipedream::cli {
namespace {

struct SimulateFlags : PlanningFlags, SimulationFlags, PictureFlags {
  std::string plan;
  std::string schedule;
  std::optional<std::int64_t> checkpoint_every;
  std::string page;
  bool as_json = false;
  [[nodiscard]] bool needs_timeline() const { return wants_any() || !page.empty(); }
};

void check_microbatches(const std::string& file, const plan::Plan& plan,
                        const profile::Profile& profile) {
  if (plan.microbatches > profile.batch.value_or(INT32_MAX))
    throw CannotMeet(file + " cuts minibatches into " + std::to_string(plan.microbatches) +
                     " microbatches; they have only " + std::to_string(*profile.batch) +
                     " samples");
}

constexpr Seconds kQuiet(2);  // most simulations are shorter and show no progress
constexpr std::int64_t kMostInPicture =
    2'000'000;  // forwards; each forward has several events in memory

void check_picture(const SimulateFlags& flags, const plan::Plan& plan) {
  const std::int64_t minibatches =
      flags.minibatches > 0 ? flags.minibatches : systems::enough_minibatches(plan);
  const std::int64_t forwards = static_cast<std::int64_t>(plan.stages.size()) * plan.microbatches;
  const std::int64_t most = std::max<std::int64_t>(1, kMostInPicture / forwards);
  if (flags.needs_timeline() && minibatches > most)
    throw CannotMeet("a picture of so long a run would not fit the memory: choose --minibatches " +
                     std::to_string(most) + " or less");
}

plan::Plan plan_of(const SimulateFlags& flags, const profile::Profile& profile,
                   const cluster::Cluster& cluster) {
  if (flags.plan.empty()) {
    const systems::Model model(profile);
    std::string candidates;
    const systems::Planned planned = planned_for(flags, model, cluster, candidates);
    return planned.plan;
  }
  plan::PlanFile file = systems::read_plan_for(flags.plan, profile.graph, cluster.workers(),
                                               (flags.workers ? "this machine" : flags.cluster) +
                                                   " has " + std::to_string(cluster.workers()));
  check_microbatches(flags.plan, file.plan, profile);
  return file.plan;
}

systems::Simulated simulated_plan(const plan::Plan& plan, const profile::Profile& profile,
                                  const cluster::Cluster& cluster,
                                  systems::SimulationWishes wishes) {
  const std::int64_t asked = wishes.schedule_options.minibatches;
  const std::int64_t all = asked > 0 ? asked : systems::enough_minibatches(plan);
  Progress progress("simulating " + plan.system, kQuiet);
  wishes.progress = [&](double share) {
    const auto done = static_cast<std::int64_t>(share * static_cast<double>(all));
    progress.show(share, report::grouped(done) + " of " + report::grouped(all) + " minibatches");
  };
  return systems::simulate_plan(plan, profile, cluster, wishes);
}

void execute(const SimulateFlags& flags) {
  check_picture_files(flags);
  check_page_file("--html", flags.page);
  const profile::Profile profile = profile::read_profile(flags.profile, flags.batch);
  const cluster::Cluster cluster = cluster_of(flags, profile);
  plan::Plan plan = plan_of(flags, profile, cluster);
  systems::SimulationWishes wishes = simulation_wishes(flags, cluster);
  take_over(wishes_of(flags), wishes);
  for (const std::string& line : unused_stragglers(flags, wishes, {&plan}))
    std::cerr << line << "\n";
  wishes.keep_timeline = flags.needs_timeline();
  wishes.checkpoint_every = flags.checkpoint_every;
  systems::OwnSchedule own;
  if (!flags.schedule.empty()) {
    own = systems::read_own_schedule(flags.schedule, plan, profile.graph);
    take_over(own, plan, wishes);
    check_microbatches(flags.schedule, plan, profile);
  }
  check_picture(flags, plan);
  const auto began = std::chrono::steady_clock::now();
  systems::Simulated simulated = simulated_plan(plan, profile, cluster, wishes);
  const Seconds took = std::chrono::steady_clock::now() - began;
  if (flags.as_json) {
    nlohmann::ordered_json json = report::simulation_json(simulated, plan, profile);
    json["simulator_seconds"] = took.count();
    std::cout << json.dump(2) << "\n";
  } else {
    std::cout << with_flags(report::simulation_table(simulated, plan, profile, cluster));
  }
  write_pictures(flags, simulated.timeline,
                 {.title = profile.model + " on " + cluster.name + ": " + plan.system + " " +
                           report::short_config(plan::config_text(plan)),
                  .subtitle = report::simulation_line(simulated, profile)});
  if (flags.page.empty()) return;
  write_page(flags.page, profile.model + " on " + cluster.name,
             {simulated_run("simulated", plan, profile, cluster, std::move(simulated))});
}

}  // namespace

void add_simulate(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("simulate", "Show what a plan would do on a cluster, without running it");
  const auto flags = std::make_shared<SimulateFlags>();
  add_required_input_flags(*command, flags);
  CLI::Option* plan = command->add_option("--plan", flags->plan, "Plan file; else a plan is made");
  add_system_flag(*command, flags)->excludes(plan);
  for (CLI::Option* option : add_planning_flags(*command, flags)) option->excludes(plan);
  add_weight_flags(*command, flags);
  add_simulation_flags(*command, flags);
  command
      ->add_option("--checkpoint-every", flags->checkpoint_every,
                   "Also show what a checkpoint every so many minibatches costs")
      ->check(range<std::int64_t>(1, kMostSimulated, kWholeNumber));
  command
      ->add_option("--schedule", flags->schedule,
                   "Your own schedule (text, docs/formats.md) instead of the system's")
      ->excludes("--minibatches")
      ->excludes("--microbatches")
      ->excludes("--vertical-sync")
      ->excludes("--no-stash");
  add_picture_flags(*command, flags);
  add_page_flag(*command, flags->page);
  command->add_flag("--json", flags->as_json, "Print one JSON object instead of tables");
  command->callback([flags] { execute(*flags); });
}

}  // namespace pipedream::cli
