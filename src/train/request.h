// A training from the user's request to its outcome: the checks, the job of the workers, and the
// run on threads or processes. The command line and the library translate what their users say into
// a Request, and use the same functions from there on.
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
#include "train/initial_weights.h"
#include "train/optimiser_options.h"
#include "train/resume.h"
#include "train/trainer.h"

namespace pipedream::train {

inline constexpr int kMostThreads = 4096;  // of one worker, and workers of one machine

// Checkpoints that a training writes.
struct CheckpointRequest {
  std::filesystem::path folder;  // where they go; must exist. Empty: none are written
  CheckpointTimes times{.at_epochs = true, .at_end = true};
  int keep = 3;  // Saving::keep
  // The run's id: 32 hexadecimal digits, the same in all checkpoints of a run and its resumes.
  std::string run;
};

// The data, as manifests name it.
struct DataName {
  std::string name;
  std::int64_t samples = 0;  // to train on
};

// How to train, besides the network and the plan.
struct Request {
  // Passes over the training data. Ignored if `minibatches` is set.
  std::int64_t epochs = 1;
  // Minibatches to train, in units of the network's batch size (Recipe::minibatches).
  std::optional<std::int64_t> minibatches;
  bool evaluate = true;                            // on held-out data
  std::optional<std::int64_t> evaluate_every;      // Recipe::evaluate_every
  std::optional<std::int64_t> evaluation_samples;  // Recipe::evaluation_samples
  Goal goal;
  std::uint64_t seed = 0;
  int threads = 1;  // CPU threads of each worker
  bool bind_cores =
      true;  // whether workers on CPUs get cores of their own (docs/runtime.md: Cores)
  // The device and precision that the user asked for; if empty, the plan's.
  runtime::ComputingNames computing;
  OptimiserOptions optimiser;
  RateOptions rate;            // how the learning rate changes
  std::optional<double> clip;  // the largest norm of all gradients of an update
  // Seconds after which a worker that is waited for counts as lost; if empty, default_patience().
  std::optional<double> patience;
  // Every stage uses the weight version that the first stage used for the minibatch (paper §3.3).
  bool vertical_sync = false;
  bool no_stash = false;                // no old weight versions are kept (no weight stashing)
  Exchange exchange = Exchange::kRing;  // how replicas all-reduce gradients
  std::optional<Bandwidth> link;        // of emulated links; if not set, links are not emulated
  // The host of each worker, for all-reduces in two levels (transport::Way::host_of). Ignored if
  // workers are processes: then MPI knows their hosts.
  std::vector<int> hosts;
  CheckpointRequest checkpoints;
  DataName data;                           // needed only for checkpoints, and to go on from one
  std::optional<SoundCheckpoint> resumed;  // the checkpoint to go on from
  InitialWeights initial;                  // ignored if `resumed` is set
  std::function<bool()> is_stopped;        // Recipe::is_stopped
  std::optional<Expectation> expected;     // Recipe::expected
  std::vector<Straggler> stragglers;       // Job::stragglers
  Nanos slow_after = kSlowAfter;           // Recipe::slow_after
  bool keep_timeline = false;              // Job::keep_timeline
  std::filesystem::path stall_folder;      // Job::stall_folder
};

// How long workers wait for each other if nobody says it, in seconds: 20 times as long as the
// longest wait in the simulation, or as the plan's prediction allows where nothing was simulated,
// but at least 10 seconds. 600 seconds if nothing is known. `share` is the part of a core, or of a
// GPU, that each worker has.
[[nodiscard]] double default_patience(const plan::PlanFile& file,
                                      const std::optional<systems::Simulated>& simulated,
                                      double share);

// Throws BadUsage if the request wants something of evaluations and there are none. To be called
// when it is known whether there is held-out data.
void want_evaluations(const Request& request);

// Throws BadUsage, which names the option, for a number that is out of its range, and for numbers
// that the optimiser does not take.
void check(const Request& request);

// What manifests say of such a training at every step: the settings, without the plan.
[[nodiscard]] checkpoint::Manifest settings_of(const model::Network& network,
                                               const Request& request, model::Precision precision);

// Throws CannotMeet if the request goes on from a checkpoint and asks for less, in all, than was
// trained before it. `settings` are those of this training.
void want_no_less(const Request& request, const checkpoint::Manifest& settings);

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

  // Trains. Only the process of worker 0 gets the outcome; the others get only
  // `TrainingOutcome::interrupted`. Whatever failed first is thrown.
  [[nodiscard]] TrainingOutcome run(const data::Data& data, const Observer& observer) const;

  // The plan. If there is a schedule of the user's own, with that schedule's microbatches.
  [[nodiscard]] const plan::Plan& plan() const { return file_.plan; }

  // Returns the run as the tables of results take it (report/training_table.h). `simulated` may be
  // empty.
  [[nodiscard]] report::TrainingRun report_of(const systems::Measured& measured,
                                              std::optional<systems::Simulated> simulated) const;

 private:
  [[nodiscard]] Recipe make_recipe(const Request& request) const;
  [[nodiscard]] runtime::Job make_job(const Request& request) const;
  [[nodiscard]] std::vector<WorkerId> workers_here() const;  // those on this machine
  // checkpoint_copies(). Empty if no checkpoints are written, or if workers are on GPUs: their
  // copies are in the machine's memory, not in that of the GPU.
  [[nodiscard]] std::vector<Bytes> copies() const;
  // Sets what the recipe says about checkpoints.
  void prepare_checkpoints(const Request& request);

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
