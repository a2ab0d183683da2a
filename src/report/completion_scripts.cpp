#include "report/completion_scripts.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/text.h"

namespace pipedream::report {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

// `text` between single quotes, for shells.
std::string in_quotes(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

std::vector<std::string> all_names(const CommandText& command) {
  std::vector<std::string> names;
  for (const FlagText& flag : command.flags)
    if (!flag.is_positional) names.insert(names.end(), flag.names.begin(), flag.names.end());
  return names;
}

const CommandText* find(const std::vector<CommandText>& commands, const std::string& name) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const CommandText& each) { return each.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

// The commands that are called by one word, with what they do.
std::vector<const CommandText*> first_words(const std::vector<CommandText>& commands) {
  std::vector<const CommandText*> found;
  for (const std::string& name : commands.front().subcommands)
    found.push_back(find(commands, name));
  return found;
}

// A cell of a flag's name in the form of troff, where a dash is a hyphen unless it is escaped.
std::string troff(const std::string& text) {
  std::string safe = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  if (!safe.empty() && (safe[0] == '.' || safe[0] == '\'')) safe.insert(0, "\\&");
  return safe;
}

}  // namespace

std::string bash_completion(const std::vector<CommandText>& commands) {
  std::string words;
  std::string values;
  for (const CommandText& command : commands) {
    std::vector<std::string> offered = all_names(command);
    offered.insert(offered.end(), command.subcommands.begin(), command.subcommands.end());
    words += fmt::format("    {}) words={} ;;\n", in_quotes(command.name),
                         in_quotes(joined(offered, {}, " ")));
    for (const FlagText& flag : command.flags) {
      if (!flag.has_value || flag.is_positional) continue;
      for (const std::string& name : flag.names)
        values += fmt::format("    {}) values={} ;;\n", in_quotes(command.name + " " + name),
                              in_quotes(joined(flag.values, {}, " ")));
    }
  }
  return fmt::format(R"(# Completion of pipedream for bash: source <(pipedream completion bash)
_pipedream() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} before= command= words= values=none i
  # Bash makes words of "=" and ":", as in --system=auto and idx:folder.
  ((COMP_CWORD < 2)) || before=${{COMP_WORDS[COMP_CWORD - 2]}}
  if [[ $cur == [:=] ]]; then
    before=$prev prev=$cur cur=
  fi
  if [[ $prev == : ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    return
  fi
  [[ $prev != = ]] || prev=$before
  for ((i = 1; i < COMP_CWORD; i++)); do
    case " {} " in
      *" ${{command:+$command }}${{COMP_WORDS[i]}},"*) command=${{command:+$command }}${{COMP_WORDS[i]}} ;;
    esac
  done
  case $command in
{}  esac
  case "$command $prev" in
{}  esac
  COMPREPLY=()
  if [[ $values != none ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
    ((${{#COMPREPLY[@]}} > 0)) || mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  elif [[ $cur == -* || -z $command || $command == cluster ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}}
complete -o filenames -F _pipedream pipedream
)",
                     joined(
                         commands, [](const CommandText& each) { return each.name + ","; }, " "),
                     words, values);
}

namespace {

// The call of _arguments that completes the flags of a command, and `last`.
std::string zsh_arguments(const CommandText& command, const std::string& last) {
  std::string call = "_arguments";
  for (const FlagText& flag : command.flags) {
    if (flag.is_positional) continue;
    std::string about = flag.about;
    for (const char* special : {"[", "]", ":"}) about = replaced(about, special, " ");
    const std::string action =
        !flag.has_value ? ""
        : flag.values.empty()
            ? ":value:_files"
            : ":value:(" + replaced(joined(flag.values, {}, " "), ":", "\\:") + ")";
    for (const std::string& name : flag.names)
      call += " \\\n      " + in_quotes(name + "[" + about + "]" + action);
  }
  return call + " \\\n      " + in_quotes(last) + " ;;\n";
}

// The branch of a command, which looks for the subcommand first, if there are any.
std::string zsh_case(const std::vector<CommandText>& commands, const CommandText& command) {
  if (command.subcommands.empty())
    return "    " + command.name + ") " + zsh_arguments(command, "*:file:_files");
  std::string branch = "    " + command.name + ") case ${words[2]} in\n";
  for (const std::string& name : command.subcommands)
    branch += "    " + name + ") shift words; ((CURRENT--)); " +
              zsh_arguments(*find(commands, command.name + " " + name), "*:file:_files");
  return branch + "    *) " +
         zsh_arguments(command, "1:command:(" + joined(command.subcommands, {}, " ") + ")") +
         "    esac ;;\n";
}

// The lines of fish for the flags of a command, offered if `condition` holds.
std::string fish_flags(const CommandText& command, const std::string& condition) {
  std::string lines;
  for (const FlagText& flag : command.flags) {
    if (flag.is_positional) continue;
    lines += "complete -c pipedream -n '" + condition + "'";
    for (const std::string& name : flag.names)
      lines += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (flag.has_value) lines += " -r";
    if (!flag.values.empty()) lines += " -a " + in_quotes(joined(flag.values, {}, " "));
    lines += " -d " + in_quotes(flag.about) + "\n";
  }
  return lines;
}

}  // namespace

std::string zsh_completion(const std::vector<CommandText>& commands) {
  const auto described = [](const std::string& name, const std::string& about) {
    return in_quotes(replaced(name, ":", "\\:") + ":" + about);
  };
  std::string list;
  for (const CommandText* each : first_words(commands))
    list += "    " + described(each->name, each->about) + "\n";
  std::string cases;
  for (const CommandText* command : first_words(commands)) cases += zsh_case(commands, *command);
  return fmt::format(R"(#compdef pipedream
# Completion of pipedream for zsh: put this file as _pipedream into a folder of $fpath.
_pipedream() {{
  local -a commands
  commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=${{words[2]}}
  shift words
  ((CURRENT--))
  case $command in
{}  esac
}}
_pipedream "$@"
)",
                     list, cases);
}

std::string fish_completion(const std::vector<CommandText>& commands) {
  std::string script = "# Completion of pipedream for fish: pipedream completion fish | source\n";
  for (const CommandText* each : first_words(commands))
    script += fmt::format("complete -c pipedream -n __fish_use_subcommand -f -a {} -d {}\n",
                          each->name, in_quotes(each->about));
  for (const CommandText* command : first_words(commands)) {
    const std::string seen = "__fish_seen_subcommand_from ";
    std::string condition = seen + command->name;
    for (const std::string& name : command->subcommands) {
      const CommandText& each = *find(commands, command->name + " " + name);
      script += fish_flags(each, seen + command->name + "; and " + seen + name);
      condition += "; and not " + seen + name;
      script += fmt::format("complete -c pipedream -n {} -f -a {} -d {}\n", in_quotes(condition),
                            name, in_quotes(each.about));
    }
    script += fish_flags(*command, condition);
  }
  return script;
}

std::string man_page(const std::vector<CommandText>& commands, const CommandText& command) {
  const std::string called = command.name.empty() ? "pipedream" : "pipedream " + command.name;
  const std::string title = replaced(called, " ", "-");
  std::string page = fmt::format(
      ".TH \"{}\" 1 \"\" \"pipedream {}\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n[options]{}\n",
      troff(title), PD_VERSION, troff(title), troff(command.about), troff(called),
      command.subcommands.empty() ? "" : " command");
  page += ".SH OPTIONS\n";
  for (const FlagText& flag : command.flags) {
    page += ".TP\n.B " +
            joined(
                flag.names, [](const std::string& name) { return troff(name); }, ", ") +
            (flag.has_value && !flag.is_positional ? " VALUE" : "") + "\n" + troff(flag.about) +
            "\n";
  }
  if (command.subcommands.empty()) return page;
  page += ".SH COMMANDS\n";
  for (const std::string& name : command.subcommands) {
    const CommandText* each =
        find(commands, command.name.empty() ? name : command.name + " " + name);
    page += ".TP\n.B " + troff(name) + "\n" + troff(each->about) + "\n";
  }
  return page;
}

}  // namespace pipedream::report
