// pipedream completion SHELL, and pipedream man [COMMAND]: what shells and man read.
#include <algorithm>
#include <iostream>

#include "cli/command_list.h"
#include "cli/commands.h"
#include "core/error.h"
#include "core/nearest.h"
#include "core/text.h"

namespace pipedream::cli {
namespace {

using Script = std::string (*)(const std::vector<report::CommandText>&);

const std::vector<std::pair<std::string, Script>>& shells() {
  static const std::vector<std::pair<std::string, Script>> all{{"bash", report::bash_completion},
                                                               {"zsh", report::zsh_completion},
                                                               {"fish", report::fish_completion}};
  return all;
}

Script script_of(const std::string& shell) {
  std::vector<std::string> names;
  for (const auto& [name, script] : shells()) {
    if (name == shell) return script;
    names.push_back(name);
  }
  throw BadUsage("there is no completion for '" + shell + "'" + suggestion(shell, names));
}

void print_man_page(const CLI::App& app, const std::vector<std::string>& words) {
  const std::vector<report::CommandText> commands = command_list(app);
  const std::string wanted = joined(words, {}, " ");
  for (const report::CommandText& command : commands)
    if (command.name == wanted) {
      std::cout << report::man_page(commands, command);
      return;
    }
  want_command(app, words.front());
  throw BadUsage("there is no command '" + wanted + "'");
}

}  // namespace

void add_completion(CLI::App& app) {
  CLI::App* completion = app.add_subcommand(
      "completion", "Print a script with which a shell completes this command line");
  const auto shell = std::make_shared<std::string>();
  completion->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  completion->callback([shell, &app] { std::cout << script_of(*shell)(command_list(app)); });

  CLI::App* man = app.add_subcommand("man", "Print the man page of a command, e.g. man train");
  const auto words = std::make_shared<std::vector<std::string>>();
  man->add_option("COMMAND", *words, "One of the commands [the program itself]");
  man->callback([words, &app] { print_man_page(app, *words); });
}

}  // namespace pipedream::cli
