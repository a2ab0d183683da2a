// pipedream help [COMMAND]: the same as --help.
#include <algorithm>
#include <iostream>

#include "cli/commands.h"
#include "core/error.h"
#include "core/nearest.h"

namespace pipedream::cli {

void want_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw BadUsage("there is no command '" + name + "'" + suggestion(name, names));
}

void add_help(CLI::App& app) {
  CLI::App* command = app.add_subcommand("help", "Show what a command does, as its --help");
  const auto name = std::make_shared<std::string>();
  command->add_option("COMMAND", *name, "One of these [all in short]");
  command->callback([name, &app] {
    if (!name->empty()) want_command(app, *name);
    // app.help() would give the help of the chosen subcommand, which is `help` itself.
    std::cout << (name->empty() ? app.get_formatter()->make_help(&app, app.get_name(),
                                                                 CLI::AppFormatMode::Normal)
                                : app.get_subcommand(*name)->help(app.get_name()));
  });
}

}  // namespace pipedream::cli
