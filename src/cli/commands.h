// The subcommands: each file adds its own to the command line, with what it does when chosen.
#pragma once

#include <CLI/CLI.hpp>

namespace pipedream::cli {

void add_models(CLI::App& app);
void add_systems(CLI::App& app);
void add_profile(CLI::App& app);
void add_cluster(CLI::App& app);
void add_plan(CLI::App& app);
void add_schedule(CLI::App& app);
void add_simulate(CLI::App& app);
void add_compare(CLI::App& app);
void add_train(CLI::App& app);
void add_help(CLI::App& app);

// Throws BadUsage, with the nearest, where there is no command of that name.
void want_command(const CLI::App& app, const std::string& name);

}  // namespace pipedream::cli
