// pipedream cluster FILE: reads a cluster file, checks it and shows it. The command has a command
// of its own: probe (cluster_probe.h).
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/cluster_probe.h"
#include "cli/commands.h"
#include "cluster/cluster_file.h"
#include "core/error.h"
#include "report/cluster_table.h"

namespace pipedream::cli {
namespace {

struct ClusterFlags {
  std::string file;
  bool as_json = false;
};

void execute(const ClusterFlags& flags) {
  if (flags.file.empty())
    throw BadUsage(
        "cluster: wanted a cluster file to show, or 'probe' to measure one ('pipedream cluster "
        "--help' shows what there is)");
  const cluster::Cluster cluster = cluster::read_cluster(flags.file);
  if (flags.as_json)
    std::cout << report::cluster_json(cluster).dump(2) << "\n";
  else
    std::cout << report::cluster_table(cluster);
}

}  // namespace

void add_cluster(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("cluster", "Check a cluster file and show it, or measure a cluster");
  const auto flags = std::make_shared<ClusterFlags>();
  CLI::Option* file =
      command->add_option("FILE", flags->file, "Cluster file (TOML); ./probe for one of this name");
  command->add_flag("--json", flags->as_json, "Print one JSON object instead of tables");
  add_cluster_probe(*command);
  command->get_subcommand("probe")->excludes(file);
  command->callback([flags, command] {
    if (command->get_subcommands().empty()) execute(*flags);
  });
}

}  // namespace pipedream::cli
