// pipedream systems: the training systems side by side.
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "report/systems_table.h"

namespace pipedream::cli {

void add_systems(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("systems", "List the training systems and how they differ");
  const auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print one JSON object");
  command->callback([as_json] {
    if (*as_json)
      std::cout << report::systems_json().dump(2) << "\n";
    else
      std::cout << report::systems_table();
  });
}

}  // namespace pipedream::cli
