// Completion of the program's command line by shells, and its man pages.
#pragma once

#include <string>
#include <vector>

namespace pipedream::report {

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

// In the functions below, `commands` has the program itself first, and each command before its
// subcommands.

[[nodiscard]] std::string bash_completion(const std::vector<CommandText>& commands);
[[nodiscard]] std::string zsh_completion(const std::vector<CommandText>& commands);
[[nodiscard]] std::string fish_completion(const std::vector<CommandText>& commands);

// The man page of a command, as troff with man's macros: pipedream(1), or pipedream-train(1).
[[nodiscard]] std::string man_page(const std::vector<CommandText>& commands,
                                   const CommandText& command);

}  // namespace pipedream::report
