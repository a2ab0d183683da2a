// The part of `train` that goes on with a new plan when workers have become slower or faster
// (docs/runtime.md#a-slow-worker).
#pragma once

#include <optional>

#include "train/replanning.h"

namespace pipedream::cli {

// Used by the thread of the command, but for what it says of other threads.
class Replanning {
 public:
  // `made` has the profile and the cluster to plan with; the cluster becomes the one with the
  // speeds that were seen. `checkpoint`: the size of one. `world` is null if the workers are
  // threads. All that is referred to must outlive this.
  Replanning(const train::PreparationCase& of, train::Preparation& made, Bytes checkpoint,
             transport::MpiWorld* world);

  // To be called before a training with `plan`. Until take() is called, `request.is_stopped` also
  // stops the training when there is a better plan.
  void watch(const plan::Plan& plan, train::Request& request);
  // Workers have become slower or faster. May be called from any thread while the training runs.
  void tell(const train::OddWorkers& odd);
  // To be called by all processes when the training has ended. Returns the plan to go on with, if
  // it was ended for that. `request` then goes on from the checkpoint that was written.
  [[nodiscard]] std::optional<train::PreparedPlan> take(const train::TrainingOutcome& outcome,
                                                        train::Request& request);
  // Whether take() has returned a plan.
  [[nodiscard]] bool has_replanned() const { return has_replanned_; }

 private:
  [[nodiscard]] std::optional<train::Replanned> better_plan(
      const plan::Plan& current, const std::vector<double>& ratios) const;

  train::PreparationCase of_;
  train::Preparation& made_;
  Bytes checkpoint_;
  transport::MpiWorld* world_;
  std::optional<train::Replanner> replanner_;  // only in the first process
  bool has_replanned_ = false;
};

}  // namespace pipedream::cli
