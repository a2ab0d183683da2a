// A plan for people: what runs where, how fast it will be, and why.
#pragma once

#include <string>

#include "systems/choice.h"

namespace pipedream::report {

// The stages, the prediction and what limits it; `explain` adds, per stage, compute, communication
// and each part of the memory.
[[nodiscard]] std::string plan_table(const systems::Planned& planned,
                                     const profile::Profile& profile,
                                     const cluster::Cluster& cluster, bool explain);

// The same as far as a plan's file says it.
[[nodiscard]] std::string plan_file_table(const plan::PlanFile& file, const graph::Graph& graph);

// All that `auto` looked at, the chosen one marked.
[[nodiscard]] std::string candidate_table(const systems::Choice& choice,
                                          const profile::Profile& profile);

// "1,234 samples/s"; minibatches where the batch is not known.
[[nodiscard]] std::string rate_text(const profile::Profile& profile, Seconds per_minibatch);

// A plan's configuration where there is little room: long runs of single workers as "1×16".
[[nodiscard]] std::string short_config(const std::string& config);

}  // namespace pipedream::report
