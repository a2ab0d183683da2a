// One training as it was asked for, and everything between that and its outcome: checks, the job of
// the workers, the run on threads or processes. The command line and the library translate what
// their users say into a Request, and use the same functions from there on.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/exchange.h"
#include "plan/plan_file.h"
#include "report/training_table.h"
#include "runtime/devices.h"
#include "systems/own_schedule.h"
#include "train/optimiser_options.h"
#include "train/trainer.h"

namespace pipedream::train {

// How to train, besides the network, the plan and the data.
struct Request {
  // Passes over the training data. Ignored if `minibatches` is set.
  std::int64_t epochs = 1;
  // Minibatches to train, in units of the network's batch size (Recipe::minibatches).
  std::optional<std::int64_t> minibatches;
  bool evaluate = true;  // on held-out data, after every epoch
  std::uint64_t seed = 0;
  int threads = 1;  // CPU threads of each worker
  // The device and precision that the user asked for; if empty, the plan's.
  runtime::ComputingNames computing;
  OptimiserOptions optimiser;
  std::optional<double> clip;  // the largest norm of all gradients of an update
  double patience = 600;       // seconds after which a worker that is waited for counts as lost
  bool vertical_sync = false;
  bool no_stash = false;
  Exchange exchange = Exchange::kRing;  // how replicas average gradients
  std::optional<Bandwidth> link;        // of emulated links between workers
  // The host of each worker, for averagings in two levels. If empty, MPI is asked.
  std::vector<int> hosts;
  bool keep_timeline = false;
  std::filesystem::path stall_folder;  // Job::stall_folder
};

// Throws BadUsage, which names the option, for a number that is out of its range, and for numbers
// that the optimiser does not take.
void check(const Request& request);

// A training that is ready to run: the network, the plan and the request fit together.
class Session {
 public:
  // `own` is the user's own schedule, or null for that of the plan's system. `world` is null if the
  // workers are threads of this process. Keeps references to `network` and `own`. Throws BadUsage
  // or CannotMeet if the plan's system cannot do what the request asks.
  Session(const model::Network& network, const plan::PlanFile& file, const Request& request,
          const systems::OwnSchedule* own, transport::MpiWorld* world);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Trains. Only the process of worker 0 has an outcome. Whatever failed first is thrown.
  [[nodiscard]] std::optional<TrainingOutcome> run(const Data& data,
                                                   const Observer& observer) const;

  // With the microbatches of the user's own schedule, if there is one.
  [[nodiscard]] const plan::Plan& plan() const { return file_.plan; }

  // What the tables of results are made of. `simulated` may be empty.
  [[nodiscard]] report::TrainingRun report_of(const systems::Measured& measured,
                                              std::optional<systems::Simulated> simulated) const;

 private:
  [[nodiscard]] Recipe make_recipe(const Request& request) const;
  [[nodiscard]] runtime::Job make_job(const Request& request) const;

  const model::Network& network_;
  plan::PlanFile file_;
  const systems::OwnSchedule* own_;
  transport::MpiWorld* world_;
  std::optional<transport::Links> link_;
  OptimiserOptions optimiser_;
  Recipe recipe_;
  runtime::Job job_;  // refers to the network and to file_
};

}  // namespace pipedream::train
