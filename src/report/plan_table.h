// A plan as text for people: what runs where, how fast it will be, and why (docs/planner.md).
#pragma once

#include <string>

#include "systems/choice.h"

namespace pipedream::report {

// Returns the stages, the prediction and what limits it. With `explain`, adds the compute, the
// communication and each part of the memory of every stage.
[[nodiscard]] std::string plan_table(const systems::Planned& planned,
                                     const profile::Profile& profile,
                                     const cluster::Cluster& cluster, bool explain);

// Returns the stages and the prediction of a plan file.
[[nodiscard]] std::string plan_file_table(const plan::PlanFile& file, const graph::Graph& graph);

// Returns all systems that `auto` planned with, the chosen one marked, and below them those that it
// refused, with the reason.
[[nodiscard]] std::string candidate_table(const systems::Choice& choice,
                                          const profile::Profile& profile);

// Returns the speed, as in "1,234 samples/s", or in minibatches/s if the profile does not say how
// many samples a minibatch has.
[[nodiscard]] std::string rate_text(const profile::Profile& profile, Seconds per_minibatch);

// Returns a plan's configuration (plan::config_text) for a narrow column. Four or more stages of
// one worker each are written as "1×4". Other configurations are cut off if they are too long.
[[nodiscard]] std::string short_config(const std::string& config);

}  // namespace pipedream::report
