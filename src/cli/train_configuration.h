// The configuration file of `train` (docs/formats.md#training-configuration).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/train_flags.h"
#include "core/document.h"

namespace pipedream::cli {

// The flags with which exactly this training can be repeated, as text: those that were given and
// those that were decided, which `resolved` has by name. Flags that only say where results go are
// left out. How the plan was asked for stands beside the plan, so that a new one can be made.
[[nodiscard]] std::string configuration_text(
    const CLI::App& command, const ModelOptions& options,
    const std::vector<std::pair<std::string, std::string>>& resolved);

// A configuration that was read. What the command line says wins over it.
class Configuration {
 public:
  // Throws BadFile for a file that is none, or has a flag that `train` does not know.
  Configuration(const std::string& file, const CLI::App& command);

  [[nodiscard]] std::string model() const;  // empty where it names none

  // Gives each flag that the command line left open the value that the file has for it; a flag is
  // not open where one that excludes or replaces it is given: those that say how to plan exclude
  // the file's plan, and a new one is made as the file and they say. Where the file's plan is kept
  // and was made for something else than the command line says, it loses what was predicted; where
  // its profile was measured with something else, that is passed over. Of another --model nothing
  // is taken that belongs to the file's. Notes tell of all this.
  // `flags.options` are the command line's before, and all afterwards. Throws BadFile.
  void fill_in(CLI::App& command, TrainFlags& flags) const;

 private:
  class Selection;
  struct Setting {
    std::string name;
    std::string text;  // paths as they are from here
    Node node;         // for messages
  };
  [[nodiscard]] const Setting* find(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> changes(const CLI::App& command, const ModelOptions& given,
                                                 const std::vector<std::string>& names) const;

  std::vector<Setting> settings_;
  ModelOptions options_;
};

}  // namespace pipedream::cli
