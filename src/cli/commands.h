// The subcommands of the program. Each add_*() function adds one subcommand to `app`: its flags,
// and the function that runs when the user chooses it.
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
void add_launch(CLI::App& app);
void add_checkpoint(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_generate(CLI::App& app);
void add_report(CLI::App& app);
void add_completion(CLI::App& app);
void add_help(CLI::App& app);

// Throws BadUsage, with the most similar name, if `app` has no subcommand `name`.
void want_command(const CLI::App& app, const std::string& name);

}  // namespace pipedream::cli
