#include "cli/page_run.h"

#include <iostream>

#include "core/file.h"
#include "report/simulation_table.h"

namespace pipedream::cli {

page::Run simulated_run(const std::string& name, const plan::Plan& plan,
                        const profile::Profile& profile, const cluster::Cluster& cluster,
                        systems::Simulated simulated) {
  page::Run run{.name = name,
                .result = report::simulation_json(simulated, plan, profile),
                .plan = page::plan_json(plan, profile),
                .cluster = page::cluster_json(cluster),
                .links = page::links_json(simulated, cluster)};
  run.timelines.push_back({"simulated", std::move(simulated.timeline)});
  return run;
}

void add_simulation(const plan::Plan& plan, const profile::Profile& profile,
                    const cluster::Cluster& cluster, page::Run& run) {
  run.plan = page::plan_json(plan, profile);
  run.cluster = page::cluster_json(cluster);
  const systems::Model model(profile);
  run.others = page::others_json(systems::compare_systems(model, cluster, {}, {}));
  systems::SimulationWishes wishes;
  wishes.keep_timeline = true;
  systems::Simulated simulated = systems::simulate_plan(plan, profile, cluster, wishes);
  run.links = page::links_json(simulated, cluster);
  run.timelines.push_back({"simulated", std::move(simulated.timeline)});
}

void write_page(const std::string& file, const std::string& title,
                const std::vector<page::Run>& runs) {
  write_file_atomically(file, page::html(title, runs));
  std::cerr << "written to " << file << "\n";
}

}  // namespace pipedream::cli
