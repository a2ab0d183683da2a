// All commands and flags of the program as plain data, from the same table as --help. Shell
// completion and man pages are made from it.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace pipedream::cli {

struct FlagText {
  std::vector<std::string> names;  // with dashes, long names first
  std::string about;
  bool has_value = false;
  bool is_positional = false;
  std::vector<std::string> values{};  // those that are known; others may be allowed
};

struct CommandText {
  std::string name;  // as it is called: "cluster probe"; empty for the program itself
  std::string about;
  std::vector<FlagText> flags;
  std::vector<std::string> subcommands;  // the next words
};

// The program itself comes first, and each command before its subcommands.
[[nodiscard]] std::vector<CommandText> command_list(const CLI::App& app);

}  // namespace pipedream::cli
