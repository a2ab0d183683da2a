// What `train` does before it trains: profile the network, plan, simulate the plan.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/train_flags.h"
#include "model/network.h"
#include "plan/plan_file.h"
#include "report/training_table.h"
#include "runtime/devices.h"
#include "systems/simulation.h"
#include "transport/mpi.h"

namespace pipedream::cli {

struct PlanningTask {
  const TrainFlags& flags;
  const model::Network& network;
  const train::OptimiserOptions& optimiser;
  int workers = 1;
  int here = 1;  // of them on this machine
  runtime::Computing computing;
  // Throws BadUsage or CannotMeet where the plan cannot be trained with as the flags say.
  std::function<void(const plan::Plan&)> check;
};

// A plan and what is known of it before it runs.
struct Prepared {
  plan::PlanFile file;
  std::optional<systems::Simulated> simulated;
};

struct Preparation {
  std::vector<Prepared> runs;               // one, or one per system with --system all
  std::vector<report::NotRun> refused;      // systems that have no plan
  std::string automatic;                    // the choice of auto, where all systems run
  std::string table;                        // what auto looked at, where it chose
  std::optional<profile::Profile> profile;  // where there is one
  std::vector<int> hosts;                   // of the cluster (cluster::hosts)
};

// Throws CannotMeet where there is no plan; before the network is profiled, where no profile could
// change that.
[[nodiscard]] Preparation prepare_plans(const PlanningTask& task);

// For processes: the first prepares, the others get its plans and nothing else. When it fails, all
// throw what it threw.
[[nodiscard]] Preparation shared_plans(const PlanningTask& task, transport::MpiWorld& world);

}  // namespace pipedream::cli
