#include "cli/train_configuration.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "cli/spelling.h"
#include "core/error.h"
#include "core/file.h"
#include "core/nearest.h"
#include "core/text.h"
#include "data/data_name.h"
#include "data/data_set.h"
#include "data/tokeniser.h"
#include "imported/entry.h"
#include "report/table.h"
#include "systems/choice.h"
#include "transport/mpi.h"

namespace pipedream::cli {
namespace {

constexpr char kFormat[] = "pipedream-training";
constexpr int kVersion = 1;

// Flags that are never written to a configuration: they say where results go, or are no settings.
const std::set<std::string>& not_settings() {
  static const std::set<std::string> names{"help", "config", "out",         "export", "json",
                                           "svg",  "trace",  "overwrite",   "resume", "force",
                                           "html", "set",    "tensorboard", "serve"};
  return names;
}

// Flags that only the first process needs: it alone reads these files, profiles, prints and writes
// results.
const std::set<std::string>& of_first_process() {
  static const std::set<std::string> names{
      "help",  "config", "plan", "profile", "json", "cluster",     "overwrite", "profile-seconds",
      "trace", "export", "svg",  "force",   "html", "tensorboard", "serve"};
  return names;
}

// Files and folders that may lie in different places on different hosts.
const std::set<std::string>& of_each_host() {
  static const std::set<std::string> names{"out", "resume", "schedule", "weights"};
  return names;
}

// The flags that a measured profile depends on, besides the model's own options.
const std::vector<std::string>& measured_with() {
  static const std::vector<std::string> names{"model",   "batch",     "threads", "optimiser",
                                              "workers", "precision", "device"};
  return names;
}

// The flags that a plan depends on, besides those of measured_with().
const std::vector<std::string>& planned_for_besides() {
  static const std::vector<std::string> names{"link", "cluster", "exchange", "profile"};
  return names;
}

// Setting of the file → flag that replaces it if the command line gives it another value, though
// the two do not exclude each other.
const std::map<std::string, std::string>& replaced_by() {
  static const std::map<std::string, std::string> names{
      {"momentum", "optimiser"}, {"cluster", "workers"}, {"split", "stages"}, {"stages", "split"}};
  return names;
}

// The settings that only make sense for one network, besides its own options.
const std::set<std::string>& of_the_model() {
  static const std::set<std::string> names{"batch",    "plan",    "profile", "split",
                                           "schedule", "weights", "fresh"};
  return names;
}

// Whether the setting `name` is of other data than `data`, which the command line names.
bool is_of_other_data(const std::string& name, const std::optional<std::string>& data) {
  std::string option = name;
  std::replace(option.begin(), option.end(), '-', '_');
  return data && !data::takes_option(*data, option);
}

using GivenOptions = std::set<const CLI::Option*>;

GivenOptions given_options(const CLI::App& command) {
  GivenOptions given;
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0) given.insert(option);
  return given;
}

// Whether the command line gives `option`, or an option that it excludes.
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

// Whether the value of the setting `name` is a file's path.
bool is_path(const std::string& name) {
  static const std::set<std::string> paths{"plan", "schedule", "profile", "cluster", "weights"};
  return paths.contains(name);
}

bool have_the_same_content(const std::string& a, const std::string& b) {
  try {
    return read_file(a) == read_file(b);
  } catch (const IoError&) {
    return false;
  }
}

// The text of the setting `name`, with `change` applied to its path if it has one.
template <class Change>
std::string with_path(const std::string& name, const std::string& text, const Change& change) {
  if (is_path(name) || (name == "model" && imported::is_file_name(text)))
    return change(text).string();
  if (name == "tokeniser" && data::is_vocabulary_file(text)) return change(text).string();
  return name == "data" ? data::with_files(text, change) : text;
}

// Whether the value `given` of the setting `name` is the file of the value `own`, which somebody
// has moved or copied. Of a model's file only the name is compared here: the checkpoint knows the
// model.
bool is_moved(const std::string& name, const std::string& given, const std::string& own) {
  if (name == "data") return data::was_moved(own, given);
  return name == "model" && given != own && imported::is_file_name(own) &&
         imported::is_file_name(given) &&
         std::filesystem::path(given).filename() == std::filesystem::path(own).filename();
}

std::filesystem::path absolute_path(const std::filesystem::path& path) {
  return path.empty() ? path : std::filesystem::absolute(path);
}

// Whether two texts are equal, or numbers of equal value, such as 64 and 64.0.
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

// Under mpirun the number of workers is the number of processes. It wins over the file.
void take_processes_as_workers(CLI::App& command) {
  CLI::Option* workers = command.get_option("--workers");
  const std::optional<int> processes =
      transport::launched_by_mpirun() ? transport::launched_size() : std::nullopt;
  if (!processes || workers->count() > 0) return;
  workers->add_result(std::to_string(*processes));
  workers->run_callback();
}

// A changed flag as the notes name it: "--batch 8".
std::string change_text(const std::string& name, const std::string& value) {
  if (name == "workers" && transport::launched_by_mpirun())
    return "mpirun's " + value + (value == "1" ? " process" : " processes");
  return "--" + name + " " + value;
}

// The system that the command line names. Null if --system is absent, `auto` or `all`.
const systems::System* other_system(const CLI::App& command) {
  const CLI::Option* option = command.get_option("--system");
  const std::string name = option->count() > 0 ? value_text(*option) : "";
  if (name.empty() || name == "auto" || name == "all") return nullptr;
  return &systems::find_system(name);
}

// Whether the setting `name` is an option of some systems, but not of `system`.
bool is_for_others(const std::string& name, const systems::System* system) {
  if (system == nullptr) return false;
  for (const systems::System& other : systems::all_systems())
    for (const systems::Option option : other.options)
      if (flag_of(option) == "--" + name) return !systems::knows(*system, option);
  return false;
}

}  // namespace

std::string absolute_data_name(const std::string& data) {
  return data.empty() ? "synthetic" : with_path("data", data, absolute_path);
}

std::string configuration_text(const CLI::App& command, const ModelOptions& options,
                               const std::vector<std::pair<std::string, std::string>>& resolved) {
  std::map<std::string, std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = name_of(*option);
    if (name.empty() || option->count() == 0 || not_settings().contains(name)) continue;
    flags[name] = with_path(name, value_text(*option), absolute_path);
  }
  for (const auto& [name, value] : resolved) flags[name] = value;
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();
  for (const auto& [name, value] : flags) settings[name] = any_bytes(value);
  const nlohmann::ordered_json json{
      {"format", kFormat}, {"version", kVersion}, {"flags", settings}, {"model_options", options}};
  return json.dump(2) + "\n";
}

std::string settings_table(const CLI::App& command, const TrainFlags& flags,
                           const std::vector<std::pair<std::string, std::string>>& resolved) {
  const auto origin_of = [&](const std::string& name) -> std::string {
    const auto origin = flags.origins.find(name);
    return origin == flags.origins.end() ? "command line" : origin->second;
  };
  std::map<std::string, std::pair<std::string, std::string>> settings;  // name → value, origin
  for (const auto& [name, value] : resolved) settings[name] = {value, "default"};
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = name_of(*option);
    if (name.empty() || option->count() == 0 || not_settings().contains(name)) continue;
    if (name == "dry-run") continue;
    settings[name] = {value_text(*option), origin_of(name)};
  }
  for (const auto& [name, value] : flags.options) settings[name] = {value, origin_of(name)};
  report::Table table({{"setting"}, {"value"}, {"from"}});
  for (const auto& [name, found] : settings) table.add_row({name, found.first, found.second});
  return table.text();
}

train::Settings shared_flags(const CLI::App& command) {
  train::Settings flags;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = name_of(*option);
    if (name.empty() || option->count() == 0 || of_first_process().contains(name)) continue;
    std::string value = option->get_expected_min() == 0 ? "" : value_text(*option);
    if (of_each_host().contains(name)) value.clear();
    if (name == "data") value = value.substr(0, value.find(':'));
    if (name == "tokeniser" && data::is_vocabulary_file(value)) value = "a file";
    if (name == "model" && imported::is_file_name(value))
      value = std::filesystem::path(value).filename().string();
    flags.emplace_back("--" + name, value);
  }
  const std::vector<std::string> rest = command.remaining();  // the model's own options
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const std::size_t equals = rest[i].find('=');
    if (equals != std::string::npos)
      flags.emplace_back(rest[i].substr(0, equals), rest[i].substr(equals + 1));
    else if (i + 1 < rest.size() && !rest[i + 1].starts_with("--"))
      flags.emplace_back(rest[i], rest[i + 1]), ++i;
    else
      flags.emplace_back(rest[i], "");
  }
  return flags;
}

namespace {

// A configuration that a training has left begins as every JSON object does.
bool is_json(const std::string& content) {
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  return first != content.npos && content[first] == '{';
}

// The flag of `train` for the setting `name`, or null.
const CLI::Option* flag_for(const std::string& name, const CLI::App& command) {
  const CLI::Option* option = command.get_option_no_throw("--" + name);
  return option == nullptr || not_settings().contains(name_of(*option)) ? nullptr : option;
}

std::string unknown_setting(const std::string& name, const CLI::App& command,
                            const std::vector<model::OptionSpec>& options) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options())
    if (!not_settings().contains(name_of(*option))) known.push_back(name_of(*option));
  for (const model::OptionSpec& option : options) known.push_back(option.name);
  return "train has no setting " + name +
         (nearest(name, known).empty() ? " (its settings are the names of its flags)"
                                       : suggestion(name, known));
}

bool knows(const std::vector<model::OptionSpec>& options, const std::string& name) {
  return std::any_of(options.begin(), options.end(),
                     [&](const model::OptionSpec& option) { return option.name == name; });
}

}  // namespace

void take_over_settings(CLI::App& command, TrainFlags& flags) {
  const GivenOptions given = given_options(command);
  GivenOptions set;
  for (const std::string& setting : flags.sets) {
    const std::size_t equals = setting.find('=');
    if (equals == setting.npos || equals == 0)
      throw BadUsage("--set " + setting + ": wanted NAME=VALUE, such as learning-rate=0.1");
    const std::string name = setting.substr(0, equals);
    const std::string value = setting.substr(equals + 1);
    if (flag_for(name, command) == nullptr) {
      flags.set_options[name] = value;
      flags.origins[name] = "--set";
      continue;
    }
    CLI::Option* option = command.get_option("--" + name);
    if (is_settled(*option, given)) continue;
    if (const auto excluded = option->get_excludes();
        std::any_of(excluded.begin(), excluded.end(),
                    [&](const CLI::Option* other) { return set.contains(other); }))
      throw BadUsage("--set " + setting + ": it excludes another --set; leave one of them out");
    set.insert(option);
    try {
      option->add_result(value);
      option->run_callback();
    } catch (const CLI::ParseError& error) {
      throw BadUsage("--set " + setting + ": " + error.what());
    }
    flags.origins[name_of(*option)] = "--set";
  }
}

void want_set_options(const TrainFlags& flags, const std::vector<model::OptionSpec>& known,
                      const CLI::App& command) {
  for (const auto& [name, value] : flags.set_options)
    if (!knows(known, name))
      throw BadUsage("--set " + name + "=" + value + ": " + unknown_setting(name, command, known));
}

Configuration::Configuration(const std::string& content, const std::string& file,
                             const CLI::App& command)
    : file_(file),
      document_(is_json(content) ? parse_json(content, file) : parse_toml(content, file)) {
  if (is_json(content))
    read_json(command);
  else
    read_toml(command);
}

std::filesystem::path Configuration::beside_it(const std::filesystem::path& path) const {
  return path.empty() ? path : std::filesystem::path(file_).parent_path() / path;
}

void Configuration::read_json(const CLI::App& command) {
  document_.expect_format(kFormat, kVersion);
  document_.expect_keys({"format", "version", "flags", "model_options"});
  for (const auto& [name, value] : document_.at("flags").members()) {
    if (flag_for(name, command) == nullptr)
      value.fail("train has no setting --" + name + suggestion("--" + name, flag_names(command)));
    settings_.push_back(
        {name,
         with_path(name, value.any_bytes(),
                   [this](const std::filesystem::path& path) { return beside_it(path); }),
         value});
  }
  for (const auto& [name, value] : document_.at("model_options").members())
    options_.emplace(name, value.text());
}

void Configuration::read_toml(const CLI::App& command) {
  for (const auto& [name, value] : document_.members()) {
    if (value.is_object())
      value.fail("is a table; settings stand in none: write them before the first [table]");
    const CLI::Option* option = flag_for(name, command);
    if (option == nullptr) {
      options_.emplace(name, value.scalar_text());
      option_places_.emplace_back(name, value);
      continue;
    }
    if (const auto text = written_value(*option, value))
      settings_.push_back(
          {name_of(*option),
           with_path(name_of(*option), *text,
                     [this](const std::filesystem::path& path) { return beside_it(path); }),
           value});
  }
}

std::optional<std::string> Configuration::written_value(const CLI::Option& option,
                                                        const Node& value) {
  const bool is_switch = option.get_expected_max() == 0 || option.get_type_size() == 0;
  if (is_switch) return value.boolean() ? std::optional<std::string>("true") : std::nullopt;
  if (value.is_boolean())
    value.fail("wanted a value of --" + name_of(option) + ", found true or false");
  if (!value.is_array()) return value.scalar_text();
  return joined(
      value.elements(), [](const Node& each) { return each.scalar_text(); }, ",");
}

void Configuration::want_options(const std::vector<model::OptionSpec>& known,
                                 const CLI::App& command) const {
  for (const auto& [name, place] : option_places_)
    if (!knows(known, name)) place.fail(unknown_setting(name, command, known));
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

bool Configuration::repeats(const CLI::Option& option) const {
  const std::string name = name_of(option);
  const Setting* own = find(name);
  if (own == nullptr) return false;
  const std::string given = with_path(name, value_text(option), absolute_path);
  return mean_the_same(given, own->text) || is_moved(name, given, own->text) ||
         (is_path(name) && have_the_same_content(given, own->text));
}

// Returns the flags of `names`, and the model options of `given`, that the command line has with
// another value than the file: "--batch 8".
std::vector<std::string> Configuration::changes(const CLI::App& command, const ModelOptions& given,
                                                const std::vector<std::string>& names) const {
  std::vector<std::string> changed;
  for (const std::string& name : names) {
    const CLI::Option* option = command.get_option("--" + name);
    if (option->count() == 0 || repeats(*option)) continue;
    changed.push_back(change_text(name, value_text(*option)));
  }
  for (const auto& [name, value] : given) {
    const auto own = options_.find(name);
    if (own == options_.end() || !mean_the_same(value, own->second))
      changed.push_back("--" + name + " " + value);
  }
  return changed;
}

// Decides which of the file's settings are used beside the flags of the command line, and makes the
// notes about the others.
class Configuration::Selection {
 public:
  Selection(const Configuration& file, const CLI::App& command, const ModelOptions& options,
            Use use)
      : file_(file),
        command_(command),
        use_(use),
        // Taken before the settings of the file are added. The file may hold settings that exclude
        // each other, such as a plan and the flags that it was made with.
        given_(given_options(command)),
        changing_(changing_options(given_)),
        system_(other_system(command)),
        data_(command.get_option("--data")->count() == 0
                  ? std::nullopt
                  : std::optional(value_text(*command.get_option("--data")))),
        other_model_(file.find("model") != nullptr &&
                     !file.changes(command, {}, {"model"}).empty()) {
    const std::vector<std::string> measured = file.changes(command, options, measured_with());
    keep_plan(measured);
    keep_profile(measured);
    if (other_model_)
      notes_.push_back(file.changes(command, {}, {"model"}).front() + ": the configuration is of " +
                       file.model() + ", whose options, batch, plan and profile are left out");
    for (const Setting& setting : file.settings_)
      if (is_open(setting.name) && is_for_others(setting.name, system_))
        notes_.push_back("--" + setting.name + " of the configuration means nothing to " +
                         system_->name + ": it is left out");
      else if (is_open(setting.name) && is_of_other_data(setting.name, data_))
        notes_.push_back("--" + setting.name + " of the configuration means nothing to --data " +
                         *data_ + ": it is left out");
  }

  [[nodiscard]] bool takes(const std::string& name) const {
    return is_open(name) && !is_for_others(name, system_) && !is_of_other_data(name, data_) &&
           (name != "profile" || takes_profile_) && (name != "plan" || takes_plan_);
  }
  [[nodiscard]] bool takes_options() const { return !other_model_; }
  [[nodiscard]] bool forgets_prediction() const { return forgets_prediction_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  [[nodiscard]] bool is_open(const std::string& name) const {
    const auto replaced = replaced_by().find(name);
    const CLI::Option* option = command_.get_option("--" + name);
    return !given_.contains(option) && !is_settled(*option, changing_) &&
           (replaced == replaced_by().end() ||
            file_.changes(command_, {}, {replaced->second}).empty()) &&
           !(other_model_ && of_the_model().contains(name));
  }
  [[nodiscard]] bool has_open(const std::string& name) const {
    return file_.find(name) != nullptr && is_open(name);
  }
  // The options that change something: of a training that is repeated, all that are given, and of
  // one that goes on, those whose values are not the file's.
  [[nodiscard]] GivenOptions changing_options(GivenOptions given) const {
    if (use_ == Use::kResume)
      std::erase_if(given, [&](const CLI::Option* option) { return file_.repeats(*option); });
    return given;
  }
  void keep_plan(std::vector<std::string> changed) {
    if (!has_open("plan")) return;
    for (const std::string& other : file_.changes(command_, {}, planned_for_besides()))
      changed.push_back(other);
    takes_plan_ = changed.empty() || use_ == Use::kRepeat;
    forgets_prediction_ = !changed.empty() && takes_plan_;
    if (!takes_plan_)
      notes_.push_back(joined(changed) +
                       ": the plan was made for other settings; a new plan is made");
    if (forgets_prediction_)
      notes_.push_back(joined(changed) +
                       ": the plan was made for other settings; it is kept, without its prediction "
                       "(--system auto plans anew)");
  }
  void keep_profile(const std::vector<std::string>& measured) {
    takes_profile_ = has_open("profile") && measured.empty() && !forgets_prediction_;
    if (has_open("profile") && !(has_open("plan") && takes_plan_) && !takes_profile_)
      notes_.push_back(
          joined(measured) +
          ": the profile was measured with other settings; the network is profiled anew");
  }

  const Configuration& file_;
  const CLI::App& command_;
  Use use_;
  GivenOptions given_;               // by the command line
  GivenOptions changing_;            // see changing_options()
  const systems::System* system_;    // the system that the command line names, or null
  std::optional<std::string> data_;  // what the command line names, if it names any
  bool other_model_;
  bool takes_plan_ = false;
  bool takes_profile_ = false;
  bool forgets_prediction_ = false;
  std::vector<std::string> notes_;
};

void Configuration::fill_in(CLI::App& command, TrainFlags& flags, Use use) const {
  take_processes_as_workers(command);
  const Selection selection(*this, command, flags.options, use);
  flags.forgets_prediction = selection.forgets_prediction();
  flags.notes = selection.notes();
  for (const Setting& setting : settings_) {
    if (!selection.takes(setting.name)) continue;
    CLI::Option* option = command.get_option("--" + setting.name);
    try {
      option->add_result(setting.text);
      option->run_callback();
    } catch (const CLI::ParseError& error) {
      setting.node.fail(error.what());
    }
    flags.origins[setting.name] = file_;
  }
  if (!selection.takes_options()) return;
  for (const auto& [name, value] : options_)
    if (flags.options.emplace(name, value).second) flags.origins[name] = file_;
}

}  // namespace pipedream::cli
