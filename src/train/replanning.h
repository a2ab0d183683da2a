// Makes a new plan while a training runs, if workers have become slower or faster
// (docs/runtime.md#a-slow-worker).
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "train/preparation.h"
#include "train/speed_watch.h"

namespace pipedream::train {

// A plan for the speeds that were seen.
struct Replanned {
  PreparedPlan plan;
  cluster::Cluster cluster;  // with those speeds
  // Samples per second on that cluster, simulated: by the plan so far, and by the new one.
  double before = 0;
  double after = 0;
};

// Returns `cluster` with each device `ratios` times slower.
[[nodiscard]] cluster::Cluster slowed_down(cluster::Cluster cluster,
                                           const std::vector<double>& ratios);

// Plans anew for workers that compute for `ratios` times as long as planned. The system stays that
// of `current`. `made` has the profile and the cluster that `current` was planned with. Returns
// nullopt if no plan is clearly faster in simulation than `current`.
[[nodiscard]] std::optional<Replanned> replan(const PreparationCase& of, const Preparation& made,
                                              const plan::Plan& current,
                                              const std::vector<double>& ratios);

// Stops a training when there is a better plan. tell() and wants_stop() may be called by different
// threads.
class Replanner {
 public:
  using MakePlan = std::function<std::optional<Replanned>(const std::vector<double>& ratios)>;
  explicit Replanner(MakePlan make_plan) : make_plan_(std::move(make_plan)) {}

  // Workers have become slower or faster.
  void tell(const OddWorkers& odd);
  // Whether the training is to stop, because there is a better plan. Plans, which may take
  // seconds, if there is news since the last call.
  [[nodiscard]] bool wants_stop();
  // The better plan. To be called when the training has ended.
  [[nodiscard]] const std::optional<Replanned>& found() const { return found_; }

 private:
  MakePlan make_plan_;
  std::mutex mutex_;  // guards `news_`
  std::optional<std::vector<double>> news_;
  std::optional<Replanned> found_;
};

}  // namespace pipedream::train
