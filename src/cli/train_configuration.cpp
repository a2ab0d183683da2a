#include "cli/train_configuration.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file.h"
#include "core/nearest.h"

namespace pipedream::cli {
namespace {

constexpr char kFormat[] = "pipedream-training";
constexpr int kVersion = 1;

// Where results go, and what is not a setting.
const std::set<std::string>& not_settings() {
  static const std::set<std::string> names{"help", "config", "out",  "export",
                                           "json", "svg",    "trace"};
  return names;
}

// What a profile is measured with, besides the model's own options.
const std::vector<std::string>& measured_with() {
  static const std::vector<std::string> names{"model", "batch", "threads", "optimiser", "workers"};
  return names;
}

// What a plan is made for besides.
const std::vector<std::string>& planned_for_besides() {
  static const std::vector<std::string> names{"link", "cluster", "exchange", "profile"};
  return names;
}

// Settings of a file that go when another flag is given, though the two do not exclude each other.
const std::map<std::string, std::string>& replaced_by() {
  static const std::map<std::string, std::string> names{{"momentum", "optimiser"},
                                                        {"cluster", "workers"}};
  return names;
}

using GivenOptions = std::set<const CLI::Option*>;

GivenOptions given_options(const CLI::App& command) {
  GivenOptions given;
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0) given.insert(option);
  return given;
}

// Whether it was given, or one that excludes it.
bool is_settled(const CLI::Option& option, const GivenOptions& given) {
  const auto excluded = option.get_excludes();
  return given.contains(&option) ||
         std::any_of(excluded.begin(), excluded.end(),
                     [&](const CLI::Option* other) { return given.contains(other); });
}

std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? "" : option.get_lnames().front();
}

std::string value_text(const CLI::Option& option) {
  std::string text;
  for (const std::string& part : option.reduced_results()) text += (text.empty() ? "" : ",") + part;
  return text;
}

// The setting with its path changed, if it is one.
template <class Change>
std::string with_path(const std::string& name, const std::string& text, const Change& change) {
  static const std::set<std::string> paths{"plan", "schedule", "profile", "cluster"};
  if (paths.contains(name)) return change(text).string();
  const auto colon = name == "data" ? text.find(':') : text.npos;  // idx:DIR
  if (colon == text.npos) return text;
  return text.substr(0, colon + 1) + change(text.substr(colon + 1)).string();
}

// 64 and 64.0 are the same.
bool mean_the_same(const std::string& a, const std::string& b) {
  const auto number = [](const std::string& text) -> std::optional<double> {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return value;
  };
  return a == b || (number(a) && number(a) == number(b));
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace

std::string configuration_text(const CLI::App& command, const ModelOptions& options,
                               const std::vector<std::pair<std::string, std::string>>& resolved) {
  std::map<std::string, std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = name_of(*option);
    if (name.empty() || option->count() == 0 || not_settings().contains(name)) continue;
    flags[name] = with_path(name, value_text(*option), [](const std::filesystem::path& path) {
      return path.empty() ? path : std::filesystem::absolute(path);
    });
  }
  for (const auto& [name, value] : resolved) {
    flags[name] = value;
    for (const CLI::Option* other : command.get_option("--" + name)->get_excludes())
      flags.erase(name_of(*other));
  }
  const nlohmann::ordered_json json{
      {"format", kFormat}, {"version", kVersion}, {"flags", flags}, {"model_options", options}};
  return json.dump(2) + "\n";
}

Configuration::Configuration(const std::string& file, const CLI::App& command) {
  const Node document = parse_json(read_file(file), file);
  document.expect_format(kFormat, kVersion);
  document.expect_keys({"format", "version", "flags", "model_options"});
  const auto beside_it = [&](const std::filesystem::path& path) {
    return path.empty() ? path : std::filesystem::path(file).parent_path() / path;
  };
  for (const auto& [name, value] : document.at("flags").members()) {
    if (command.get_option_no_throw("--" + name) == nullptr || not_settings().contains(name))
      value.fail("train has no setting --" + name + suggestion("--" + name, flag_names(command)));
    settings_.push_back({name, with_path(name, value.text(), beside_it), value});
  }
  for (const auto& [name, value] : document.at("model_options").members())
    options_.emplace(name, value.text());
}

const Configuration::Setting* Configuration::find(const std::string& name) const {
  const auto found = std::find_if(settings_.begin(), settings_.end(),
                                  [&](const Setting& setting) { return setting.name == name; });
  return found == settings_.end() ? nullptr : &*found;
}

std::string Configuration::model() const {
  const Setting* model = find("model");
  return model == nullptr ? "" : model->text;
}

// Which of the flags `names`, and of the model's options if there are any, are given and not what
// the file has: "--batch 8".
std::vector<std::string> Configuration::changes(const CLI::App& command, const ModelOptions& given,
                                                const std::vector<std::string>& names) const {
  std::vector<std::string> changed;
  for (const std::string& name : names) {
    const CLI::Option* option = command.get_option("--" + name);
    const Setting* own = find(name);
    if (option->count() == 0 || (own != nullptr && mean_the_same(value_text(*option), own->text)))
      continue;
    changed.push_back("--" + name + " " + value_text(*option));
  }
  for (const auto& [name, value] : given) {
    const auto own = options_.find(name);
    if (own == options_.end() || !mean_the_same(value, own->second))
      changed.push_back("--" + name + " " + value);
  }
  return changed;
}

void Configuration::fill_in(CLI::App& command, TrainFlags& flags) const {
  // Beforehand: the file itself may hold settings that exclude each other, a plan and how it was
  // made.
  const GivenOptions given = given_options(command);
  const auto is_open = [&](const std::string& name) {
    const auto replaced = replaced_by().find(name);
    return !is_settled(*command.get_option("--" + name), given) &&
           (replaced == replaced_by().end() || changes(command, {}, {replaced->second}).empty());
  };
  const auto takes = [&](const std::string& name) {
    return find(name) != nullptr && is_open(name);
  };
  std::vector<std::string> changed = changes(command, flags.options, measured_with());
  bool takes_profile = takes("profile") && changed.empty();
  if (takes("plan")) {
    for (const std::string& other : changes(command, {}, planned_for_besides()))
      changed.push_back(other);
    flags.forgets_prediction = !changed.empty();
    takes_profile = takes_profile && changed.empty();
    if (!changed.empty())
      flags.notes.push_back(joined(changed) +
                            ": the plan was made for another; it is kept, without its prediction "
                            "(--system auto plans anew)");
  } else if (takes("profile") && !takes_profile) {
    flags.notes.push_back(joined(changed) +
                          ": the profile was measured with another; the network is profiled anew");
  }
  for (const Setting& setting : settings_) {
    if (!is_open(setting.name) || (setting.name == "profile" && !takes_profile)) continue;
    CLI::Option* option = command.get_option("--" + setting.name);
    try {
      option->add_result(setting.text);
      option->run_callback();
    } catch (const CLI::ParseError& error) {
      setting.node.fail(error.what());
    }
  }
  ModelOptions rest = options_;
  flags.options.merge(rest);
}

}  // namespace pipedream::cli
