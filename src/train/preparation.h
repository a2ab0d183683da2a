// Prepares a training: profiles the network, makes the plan to train by, and simulates the plan.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "data/data_set.h"
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

// How the plan of a training is found.
struct PlanRequest {
  std::string system = systems::kAutomatic;  // a system, kAutomatic or kEverySystem
  systems::Wishes wishes;
  // The files that the user named; a path is empty if the user named none.
  std::filesystem::path plan;
  std::filesystem::path profile;
  std::filesystem::path cluster;
  std::filesystem::path schedule;  // a schedule that the user wrote (systems/own_schedule.h)
  double profile_seconds = 5;      // how long to profile, if no profile is given
  // True if it is known that `plan` was made under other conditions, so that what it predicts does
  // not hold.
  bool forgets_prediction = false;
};

// The workers that are to train.
struct Workers {
  int count = 1;  // on all machines
  int here = 1;   // on this machine
};

// A plan and, if there is a profile, the result of simulating it.
struct PreparedPlan {
  plan::PlanFile file;
  std::optional<systems::Simulated> simulated;
};

struct Preparation {
  std::vector<PreparedPlan> plans;        // one, or one per system with kEverySystem
  std::vector<report::NotRun> refused;    // with kEverySystem: systems that cannot train this
  std::string automatic;                  // with kEverySystem: what `auto` would have chosen
  std::optional<systems::Choice> choice;  // if `auto` chose: the candidates of all systems
  // Measured or read. Not set if the user gave a plan without a profile.
  std::optional<profile::Profile> profile;
  // True if the given plan was made under other conditions. What it predicts then does not hold.
  bool forgets_prediction = false;
  std::optional<cluster::Cluster> cluster;  // what was planned for; only in the first process
  std::vector<int> hosts;                   // the host of each worker, as cluster::hosts returns it
  std::vector<std::string> notes;  // lines for the user, about unmet wishes and stale weights
};

struct PreparationCase {
  const model::Network& network;
  const data::DataSet& data;  // the samples to train on, with which the network is profiled
  const PlanRequest& plan;
  const Request& training;
  Workers workers;
  runtime::Computing computing;  // what the network is profiled with
  // Called while the network is profiled, with the finished share of the current phase (0 to 1) and
  // the name of the phase.
  std::function<void(double, const std::string&)> progress;
};

// Returns the plan to train by: the one in the file `PlanRequest::plan`, or one made from a given
// or new profile. Throws BadUsage for wishes that make no sense, and CannotMeet if there is no
// plan. A refusal that does not depend on the profile is thrown before the network is profiled.
[[nodiscard]] Preparation prepare(const PreparationCase& of);

// What the user asks of a planner. A network that computes whole minibatches alone adds to it that
// they are not cut.
[[nodiscard]] systems::Wishes wishes_of(const PreparationCase& of);

// Simulates the training with `plan`.
[[nodiscard]] systems::Simulated simulated(const PreparationCase& of,
                                           const profile::Profile& profile,
                                           const cluster::Cluster& cluster, plan::Plan plan);
[[nodiscard]] PreparedPlan prepared(const PreparationCase& of, const profile::Profile& profile,
                                    const cluster::Cluster& cluster,
                                    const systems::Planned& planned);

// Throws BadUsage or CannotMeet if the plan cannot be trained with as the request says.
void check_plan(const PreparationCase& of, const plan::Plan& plan);

// Throws what prepare() would throw for reasons that no measured profile can change. Measures
// nothing.
void check_preparation(const PreparationCase& of);

// prepare() for the processes of a world, which must all call it. The first process prepares; the
// others get only its plans, without simulations. If the first process throws, all throw the same.
[[nodiscard]] Preparation prepare_together(const PreparationCase& of, transport::MpiWorld& world);

}  // namespace pipedream::train
