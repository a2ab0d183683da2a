// A schedule that the user wrote.
#pragma once

#include <string>

#include "graph/graph.h"
#include "plan/plan.h"
#include "schedule/schedule.h"
#include "systems/simulation.h"

namespace pipedream::systems {

struct OwnSchedule {
  schedule::Schedule schedule;
  schedule::Extent extent;  // how many minibatches and microbatches it has
};

// Reads the file and validates the schedule. Throws BadFile with all that is wrong with it.
[[nodiscard]] OwnSchedule read_own_schedule(const std::string& file, const plan::Plan& plan,
                                            const graph::Graph& graph);

// Makes a simulation of the plan use the schedule, which must outlive the simulation.
void take_over(const OwnSchedule& own, plan::Plan& plan, SimulationWishes& simulation);

}  // namespace pipedream::systems
