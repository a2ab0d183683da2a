// The configuration file of `train` (docs/formats.md#training-configuration).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/train_flags.h"
#include "core/document.h"
#include "train/same_start.h"

namespace pipedream::cli {

// The value of --data with an absolute path, where it has one. "synthetic" if `data` is empty.
[[nodiscard]] std::string absolute_data_name(const std::string& data);

// The text of a configuration file that repeats exactly this training. It has the flags that the
// user gave to `command`, the model's own `options`, and the values in `resolved` (name, value),
// which the program decided. Flags that only say where results go are left out. The flags that say
// how to plan are kept beside the plan, so that the user can ask for a new plan.
[[nodiscard]] std::string configuration_text(
    const CLI::App& command, const ModelOptions& options,
    const std::vector<std::pair<std::string, std::string>>& resolved);

// The flags of the command line that must be equal in all processes of a training, with their
// values. Left out are those that only the first process needs. Files may lie in different places
// on different hosts, so of their flags only counts whether they are given, and of --data the kind.
[[nodiscard]] train::Settings shared_flags(const CLI::App& command);

// All settings of a training, their values and where each is from, as a table for people.
// `resolved` has values that the program chose where nobody gave any.
[[nodiscard]] std::string settings_table(
    const CLI::App& command, const TrainFlags& flags,
    const std::vector<std::pair<std::string, std::string>>& resolved);

// What a configuration is used for: a training that is repeated, perhaps with other settings, or
// one that goes on from a checkpoint.
enum class Use { kRepeat, kResume };

// Gives `command` the settings of --set, each as NAME=VALUE, as if they were flags. A flag that is
// given wins. What is no flag of `train` goes to `flags.set_options`. Throws BadUsage.
void take_over_settings(CLI::App& command, TrainFlags& flags);

// Throws BadUsage for a setting of --set that neither `train` nor a network with these options has.
void want_set_options(const TrainFlags& flags, const std::vector<model::OptionSpec>& known,
                      const CLI::App& command);

// A configuration file that was read: one that a training left (JSON), or one written by hand
// (TOML). Flags on the command line win over its settings.
class Configuration {
 public:
  // `content` is that of `file`. Throws BadFile if it is not a configuration, or has a flag that
  // `train` does not know.
  Configuration(const std::string& content, const std::string& file, const CLI::App& command);

  [[nodiscard]] std::string model() const;  // empty if the file names no model
  // Throws BadFile for a setting that neither `train` nor a network with these options has.
  void want_options(const std::vector<model::OptionSpec>& known, const CLI::App& command) const;

  // Sets each flag that the command line left open to the file's value. A flag is not open if the
  // command line gives it, or a flag that excludes or replaces it.
  // - Flags that say how to plan exclude the file's plan. A new plan is then made, as these flags
  //   and the rest of the file say.
  // - If the file's plan is kept but was made for other settings than the command line's, its
  //   prediction is dropped.
  // - If the file's profile was measured with other settings, or the prediction is dropped, the
  //   profile is not used.
  // - With Use::kResume, flags that have the file's own values change nothing. If others change
  //   what the plan was made for, such as the number of workers, a new plan is made.
  // - If the command line names another --model, nothing that belongs to the file's model is used.
  // - Settings that mean nothing to the system that the command line names are not used.
  // `flags.notes` gets lines that explain this to the user. On entry `flags.options` has the
  // model's own options from the command line; on return it has the file's too. Throws BadFile for
  // a value that its flag does not accept.
  void fill_in(CLI::App& command, TrainFlags& flags, Use use) const;

 private:
  class Selection;
  struct Setting {
    std::string name;
    std::string text;  // value; a relative path starts at the working directory
    Node node;         // place in the file, for messages
  };
  void read_json(const CLI::App& command);
  void read_toml(const CLI::App& command);
  // The value of a flag that a user wrote with its own type; nullopt for a flag that is off.
  [[nodiscard]] static std::optional<std::string> written_value(const CLI::Option& option,
                                                                const Node& value);
  [[nodiscard]] std::filesystem::path beside_it(const std::filesystem::path& path) const;
  [[nodiscard]] const Setting* find(const std::string& name) const;
  // Whether the command line gives `option` the value that the file has.
  [[nodiscard]] bool repeats(const CLI::Option& option) const;
  [[nodiscard]] std::vector<std::string> changes(const CLI::App& command, const ModelOptions& given,
                                                 const std::vector<std::string>& names) const;

  std::string file_;
  Node document_;
  std::vector<Setting> settings_;
  ModelOptions options_;
  std::vector<std::pair<std::string, Node>> option_places_;  // of options_, in a file by hand
};

}  // namespace pipedream::cli
