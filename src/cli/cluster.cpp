// pipedream cluster FILE: reads a cluster file, checks it and shows it.
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cluster/cluster_file.h"
#include "report/cluster_table.h"

namespace pipedream::cli {
namespace {

struct ClusterFlags {
  std::string file;
  bool as_json = false;
};

void execute(const ClusterFlags& flags) {
  const cluster::Cluster cluster = cluster::read_cluster(flags.file);
  if (flags.as_json)
    std::cout << report::cluster_json(cluster).dump(2) << "\n";
  else
    std::cout << report::cluster_table(cluster);
}

}  // namespace

void add_cluster(CLI::App& app) {
  CLI::App* command = app.add_subcommand("cluster", "Check a cluster file and show it");
  const auto flags = std::make_shared<ClusterFlags>();
  command->add_option("FILE", flags->file, "Cluster file (TOML)")->required();
  command->add_flag("--json", flags->as_json, "Print one JSON object instead of tables");
  command->callback([flags] { execute(*flags); });
}

}  // namespace pipedream::cli
