// What comes before a training: the network is profiled, planned for, and the plan simulated.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/network.h"
#include "plan/plan_file.h"
#include "report/training_table.h"
#include "systems/choice.h"
#include "systems/simulation.h"
#include "train/request.h"
#include "transport/mpi.h"

namespace pipedream::train {

// The name that stands for a training with every system, one after another.
inline constexpr const char* kEverySystem = "all";

// How to come to a plan.
struct PlanRequest {
  std::string system = systems::kAutomatic;  // a system, kAutomatic or kEverySystem
  systems::Wishes wishes;
  // Files that the user gave; empty if none.
  std::filesystem::path plan;
  std::filesystem::path profile;
  std::filesystem::path cluster;
  std::filesystem::path schedule;  // the user's own
  double profile_seconds = 5;      // how long to profile, if no profile is given
  // The plan was made for other conditions: what it predicts does not hold.
  bool forgets_prediction = false;
};

// The workers that are to train.
struct Workers {
  int count = 1;
  int here = 1;  // on this machine
};

// A plan, and what its simulation says if there is a profile.
struct PreparedPlan {
  plan::PlanFile file;
  std::optional<systems::Simulated> simulated;
};

struct Preparation {
  std::vector<PreparedPlan> plans;          // one, or one per system with kEverySystem
  std::vector<report::NotRun> refused;      // with kEverySystem: systems that cannot train this
  std::string automatic;                    // with kEverySystem: what `auto` would have chosen
  std::optional<systems::Choice> choice;    // all candidates, if `auto` chose
  std::optional<profile::Profile> profile;  // if there is one
  std::vector<int> hosts;                   // of the cluster (cluster::hosts)
  std::vector<std::string> notes;           // lines about wishes that a plan does not meet
};

struct PreparationCase {
  const model::Network& network;
  const PlanRequest& plan;
  const Request& training;
  Workers workers;
  runtime::Computing computing;  // what the network is profiled with
  // Told while the network is profiled: the share that is done, and what is being done.
  std::function<void(double, const std::string&)> progress;
};

// Throws BadUsage for wishes that make no sense and CannotMeet if there is no plan. It does so
// before the network is profiled, if no profile could change that.
[[nodiscard]] Preparation prepare(const PreparationCase& of);

// The same for the processes of a world: the first one prepares, the others get its plans and
// nothing else. If the first one throws, all throw the same.
[[nodiscard]] Preparation prepare_together(const PreparationCase& of, transport::MpiWorld& world);

}  // namespace pipedream::train
