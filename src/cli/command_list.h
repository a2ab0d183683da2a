// All commands and flags of the program as plain data, from the same table as --help. Shell
// completion and man pages are made from it.
#pragma once

#include <vector>

#include <CLI/CLI.hpp>

#include "report/completion_scripts.h"

namespace pipedream::cli {

// The program itself comes first, and each command before its subcommands.
[[nodiscard]] std::vector<report::CommandText> command_list(const CLI::App& app);

}  // namespace pipedream::cli
