// A schedule that the user wrote (docs/simulator.md#your-own-schedule).
#pragma once

#include <string>

#include "graph/graph.h"
#include "plan/plan.h"
#include "schedule/schedule.h"
#include "systems/simulation.h"

namespace pipedream::systems {

struct OwnSchedule {
  schedule::Schedule schedule;
  schedule::Extent extent;  // its numbers of minibatches and microbatches
};

// Reads the file and validates the schedule against the plan. Throws BadFile, which lists what is
// wrong with the schedule, and IoError if the file cannot be read.
[[nodiscard]] OwnSchedule read_own_schedule(const std::string& file, const plan::Plan& plan,
                                            const graph::Graph& graph);

// Changes `plan` and `simulation` so that simulate_plan() uses the schedule `own` and its extent.
// `own` must outlive the simulation.
void take_over(const OwnSchedule& own, plan::Plan& plan, SimulationWishes& simulation);

}  // namespace pipedream::systems
