// A network of the zoo as the command line names it: --model, --batch and the model's own options.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "model/network.h"
#include "model/zoo.h"

namespace pipedream::cli {

// The model's own options, as written, by name.
using ModelOptions = std::map<std::string, std::string>;

// What the command line says besides the flags that CLI11 knows: "--image-size 32 --classes=10" →
// {image-size: 32, classes: 10}. Throws BadUsage for an option that `specs` do not declare, with
// the nearest of those and of `known`, or all of the model's where none is near.
[[nodiscard]] ModelOptions model_options(const std::vector<std::string>& rest,
                                         const std::vector<model::OptionSpec>& specs,
                                         std::vector<std::string> known);

// Lets a command take the model's own options.
void allow_model_options(CLI::App& command);

// "--batch", … of all flags that the command knows.
[[nodiscard]] std::vector<std::string> flag_names(const CLI::App& command);

// Throws CannotMeet where the machine has fewer cores.
void check_threads(int threads, int workers = 1);

}  // namespace pipedream::cli
