// Completion of the program's command line by shells, and its man pages.
#pragma once

#include <string>
#include <vector>

#include "cli/command_list.h"

namespace pipedream::cli {

[[nodiscard]] std::string bash_completion(const std::vector<CommandText>& commands);
[[nodiscard]] std::string zsh_completion(const std::vector<CommandText>& commands);
[[nodiscard]] std::string fish_completion(const std::vector<CommandText>& commands);

// The man page of a command, as troff with man's macros: pipedream(1), or pipedream-train(1).
[[nodiscard]] std::string man_page(const std::vector<CommandText>& commands,
                                   const CommandText& command);

}  // namespace pipedream::cli
