// The flags that describe a network: --model, --batch and the model's own options.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "model/network_entry.h"

namespace pipedream::cli {

// The model's own options: name without dashes → value as written.
using ModelOptions = std::map<std::string, std::string>;

// Reads the model's own options from `rest`, the words that CLI11 did not recognise: "--image-size
// 32 --classes=10" → {image-size: 32, classes: 10}. Throws BadUsage for an option that `specs` does
// not declare. The message names the most similar option of `specs` and `known`, or all of `specs`
// if none is similar.
[[nodiscard]] ModelOptions model_options(const std::vector<std::string>& rest,
                                         const std::vector<model::OptionSpec>& specs,
                                         std::vector<std::string> known);

// The network that --model names: one of the zoo's by its name, or an exported PyTorch model by its
// file. Throws BadUsage for an unknown name; for files what imported::Model throws.
[[nodiscard]] model::NetworkEntry network_named(const std::string& model);

// Makes `command` accept the model's own options, which CLI11 does not know.
void allow_model_options(CLI::App& command);

// The long names of all flags of `command`, with their dashes: "--batch", ….
[[nodiscard]] std::vector<std::string> flag_names(const CLI::App& command);

// Throws CannotMeet if this machine has too few cores for `workers` workers with `threads` threads
// each.
void check_threads(int threads, int workers = 1);

}  // namespace pipedream::cli
