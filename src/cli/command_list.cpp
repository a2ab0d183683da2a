#include "cli/command_list.h"

#include <map>

#include "model/zoo.h"
#include "systems/list.h"
#include "systems/planning.h"
#include "systems/system.h"

namespace pipedream::cli {
namespace {

std::vector<std::string> system_values() {
  std::vector<std::string> names{"auto", "all"};
  for (const systems::System& system : systems::all_systems()) names.push_back(system.name);
  return names;
}

std::vector<std::string> model_values() {
  std::vector<std::string> names;
  for (const model::NetworkEntry& entry : model::zoo()) names.push_back(entry.name);
  return names;
}

// The values of flags that take one of a few words.
const std::map<std::string, std::vector<std::string>>& known_values() {
  static const std::map<std::string, std::vector<std::string>> values{
      {"system", system_values()},
      {"model", model_values()},
      {"optimiser", systems::optimiser_names()},
      {"prefer", systems::prefer_names()},
      {"device", {"cpu", "cuda", "cuda:0"}},
      {"precision", {"fp32", "bf16"}},
      {"cores", {"own", "any"}},
      {"learning-rate-decay", {"none", "cosine"}},
      {"augment", {"flip", "crop:4", "resized-crop", "flip,crop:4", "flip,resized-crop"}},
      {"checkpoint-every", {"epoch", "never"}},
      {"data",
       {"synthetic", "idx:", "cifar:", "images:", "text:", "tokens:", "safetensors:", "npy:"}}};
  return values;
}

report::FlagText flag_text(const CLI::Option& option) {
  report::FlagText flag{.about = option.get_description(),
                        .has_value = option.get_type_size() != 0 && option.get_expected_max() > 0,
                        .is_positional = option.get_positional()};
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  if (flag.is_positional && flag.names.empty()) flag.names.push_back(option.get_name(true));
  const auto values = known_values().find(
      option.get_lnames().empty() ? std::string() : option.get_lnames().front());
  if (values != known_values().end()) flag.values = values->second;
  return flag;
}

void add(const CLI::App& command, const std::string& name, std::vector<report::CommandText>& list) {
  report::CommandText text{.name = name, .about = command.get_description()};
  for (const CLI::Option* option : command.get_options())
    if (!option->get_group().empty()) text.flags.push_back(flag_text(*option));
  const auto subcommands = command.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* each : subcommands) text.subcommands.push_back(each->get_name());
  list.push_back(std::move(text));
  for (const CLI::App* each : subcommands)
    add(*each, name.empty() ? each->get_name() : name + " " + each->get_name(), list);
}

}  // namespace

std::vector<report::CommandText> command_list(const CLI::App& app) {
  std::vector<report::CommandText> list;
  add(app, "", list);
  return list;
}

}  // namespace pipedream::cli
