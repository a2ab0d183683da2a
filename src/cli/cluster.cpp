// pipedream cluster FILE: reads a cluster file, checks it and shows it.
#include <iostream>

#include "cli/commands.h"
#include "cluster/cluster_file.h"
#include "report/cluster_table.h"

namespace pipedream::cli {

void add_cluster(CLI::App& app) {
  CLI::App* command = app.add_subcommand("cluster", "Check a cluster file and show it");
  const auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file, "Cluster file (TOML)")->required();
  command->callback([file] { std::cout << report::cluster_table(cluster::read_cluster(*file)); });
}

}  // namespace pipedream::cli
