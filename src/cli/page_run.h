// Runs that this process simulated or trained, as pages show them.
#pragma once

#include <string>

#include "cluster/cluster.h"
#include "page/page.h"
#include "plan/plan.h"
#include "profile/profile.h"
#include "systems/comparison.h"

namespace pipedream::cli {

[[nodiscard]] page::Run simulated_run(const std::string& name, const plan::Plan& plan,
                                      const profile::Profile& profile,
                                      const cluster::Cluster& cluster,
                                      systems::Simulated simulated);

// Adds to a measured run what its plan and other systems do on `cluster`, as simulated.
void add_simulation(const plan::Plan& plan, const profile::Profile& profile,
                    const cluster::Cluster& cluster, page::Run& run);

// Writes a page, and names the file on stderr.
void write_page(const std::string& file, const std::string& title,
                const std::vector<page::Run>& runs);

}  // namespace pipedream::cli
