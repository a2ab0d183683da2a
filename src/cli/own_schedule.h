// A schedule that the user wrote.
#pragma once

#include <string>

#include "graph/graph.h"
#include "plan/plan.h"
#include "schedule/schedule.h"
#include "systems/simulation.h"

namespace pipedream::cli {

struct OwnSchedule {
  schedule::Schedule schedule;
  schedule::Extent extent;  // what it trains
};

// Reads it and finds it runnable; else throws BadFile with all that is wrong.
[[nodiscard]] OwnSchedule read_own_schedule(const std::string& file, const plan::Plan& plan,
                                            const graph::Graph& graph);

// Lets a simulation of the plan take the schedule, which must outlive it.
void take_over(const OwnSchedule& own, plan::Plan& plan, systems::SimulationWishes& simulation);

}  // namespace pipedream::cli
