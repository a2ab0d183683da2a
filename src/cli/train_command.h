// One `pipedream train`, in one process.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/manifest.h"
#include "cli/live_page.h"
#include "cli/replanning.h"
#include "cli/starting_point.h"
#include "cli/tensorboard.h"
#include "cli/train_flags.h"
#include "cli/train_notes.h"
#include "model/network_entry.h"
#include "page/data.h"
#include "report/training_table.h"
#include "train/preparation.h"
#include "train/run_folder.h"
#include "train/same_start.h"

namespace pipedream::cli {
// What flags and configurations say: the network, and where its training begins.
struct TrainSettings {
  model::NetworkEntry entry;
  StartingPoint start;
};

// One training command in one process. Used from one thread.
class TrainCommand {
 public:
  // `world` is null if the workers are threads.
  TrainCommand(TrainFlags& flags, CLI::App& command, transport::MpiWorld* world,
               TrainSettings settings);
  // Returns whether the training came to its end. If not, a signal has stopped it at a checkpoint.
  [[nodiscard]] bool run();

 private:
  // Whether this is the first process. Only it prints, reads the files whose content it sends to
  // the others, and writes results.
  [[nodiscard]] bool speaks() const { return !world_ || world_->rank() == 0; }
  [[nodiscard]] bool trains_every_system() const { return flags_.system == train::kEverySystem; }
  [[nodiscard]] train::Workers workers() const;
  void check_workers() const;
  void check_weights() const;
  void check_link() const;
  void check_replanning();
  void claim_outputs();
  void check_space() const;
  [[nodiscard]] std::int64_t more_checkpoints() const;
  [[nodiscard]] Bytes checkpoint_bytes() const;
  [[nodiscard]] train::Settings inputs() const;
  void open_data();
  void want_resumable_flags() const;
  void want_same_facts(const std::map<std::string, std::string>& before) const;
  void prepare_resuming();
  void want_same_settings() const;
  [[nodiscard]] checkpoint::Manifest settings() const;
  [[nodiscard]] bool has_nothing_left() const;
  [[nodiscard]] runtime::Computing computing_for_planning() const;
  // Refers to `plan`.
  [[nodiscard]] train::PreparationCase preparation_case(
      const train::PlanRequest& plan,
      std::function<void(double, const std::string&)> progress) const;
  void prepare();
  void choose_length();
  void choose_checkpoints(const plan::Predicted& predicted);
  void choose_patience(const train::PreparedPlan& plan);
  [[nodiscard]] std::optional<train::Expectation> expectation(
      const train::PreparedPlan& plan) const;
  // Trains with `plan`, and with plans that are made while it trains.
  [[nodiscard]] report::TrainingRun train(train::PreparedPlan plan,
                                          train::TrainingOutcome& outcome);
  [[nodiscard]] report::TrainingRun train_by(const train::PreparedPlan& plan,
                                             train::TrainingOutcome& outcome);
  void tell_odd(const train::OddWorkers& odd);
  [[nodiscard]] train::TrainingOutcome run_session(const train::Session& session);
  void write_inputs(const train::PreparedPlan& plan) const;
  [[nodiscard]] std::optional<train::Metrics> open_metrics() const;
  [[nodiscard]] std::optional<TensorBoard> open_tensorboard() const;
  [[nodiscard]] std::string configuration(const plan::Plan& plan) const;
  [[nodiscard]] std::string interruption(const plan::Plan& plan) const;
  void show_dry_run() const;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> defaults() const;
  void show(const report::TrainingRun& run) const;
  // Shows the training that begins to the browsers of --serve.
  void begin_live(const train::Session& session);
  // What --html shows of a run.
  [[nodiscard]] page::Run page_run(const report::TrainingRun& run) const;
  // Adds what --html shows of a run. Returns why it could not be shown; empty if it could, or if
  // there is no --html.
  [[nodiscard]] std::string add_page(const report::TrainingRun& run,
                                     std::vector<page::Run>& pages) const;
  // Writes the page of --html. Returns why it could not be written; empty if it was, or if there is
  // none to write.
  [[nodiscard]] std::string write_html(const std::vector<page::Run>& pages) const;
  void show_comparison(const std::vector<report::TrainingRun>& runs) const;
  void say(const std::string& line) const;
  void tell_notes() const;
  [[nodiscard]] bool has_replanned() const { return replanning_ && replanning_->has_replanned(); }
  [[nodiscard]] Crowd crowd() const;
  void tell_machines() const;
  void tell_resumed() const;
  void want_metrics() const;
  [[nodiscard]] std::string newest_checkpoint() const;
  void tell_interrupted(const systems::Measured& measured,
                        const train::TrainingOutcome& outcome) const;

  TrainFlags& flags_;
  CLI::App& command_;
  model::NetworkEntry entry_;
  model::Network network_;
  transport::MpiWorld* world_;
  StartingPoint start_;
  train::Request request_;
  runtime::Computing computing_;
  data::Data data_;
  std::optional<train::RunFolder> folder_;  // only in the first process, with --out
  train::Preparation preparation_;
  train::PlanRequest plan_request_;
  std::optional<Replanning> replanning_;  // with --replan
  std::optional<std::string> lost_metrics_;
  std::unique_ptr<LivePage> live_;  // only in the first process, with --serve
  std::string metrics_lines_;       // with --html: those of the run
  std::size_t trained_ = 0;         // index of the plan that is trained with
};

}  // namespace pipedream::cli
