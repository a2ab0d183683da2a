// A lower bound on the time per minibatch of all plans, whatever their placement
// (docs/planner.md#the-planners). In the relaxed problem, a stage pays for its compute, with the
// processor time of averaging, and for averaging its gradients over the best links that its number
// of workers could have. Transfers are free. This is a bottleneck problem, which is solved exactly.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/predict.h"

namespace pipedream::plan {

// The bounds for one predictor. Keeps a reference to the predictor's cuts. Immutable, so any thread
// may use it.
class Relaxation {
 public:
  // `straight`: plans have no replicas.
  Relaxation(const Predictor& predictor, bool straight);

  // Returns a lower bound on the seconds per minibatch of every plan of the network on the cluster.
  [[nodiscard]] double bound() const { return bound_; }
  // Returns a lower bound on the seconds per minibatch of every plan for the layers behind cut `a`
  // on at most `workers` workers; infinity without workers. For large problems it only counts
  // compute.
  [[nodiscard]] double rest(std::size_t a, int workers) const;
  // Returns a lower bound on the seconds per minibatch of the stage from cut `a` to cut `b` on
  // `workers` workers.
  [[nodiscard]] double stage(std::size_t a, std::size_t b, int workers) const;

  // A stage of a solution.
  struct Step {
    std::size_t end;  // the cut at which the stage ends
    int workers;
  };
  // Returns stages that solve the relaxed problem, if the number of workers of every stage must be
  // a multiple of `copies`; empty if that is impossible. Workers that are not needed go to the
  // slowest stages.
  [[nodiscard]] std::vector<Step> solution(int copies) const;

 private:
  [[nodiscard]] double compute(std::size_t a, std::size_t b) const;
  [[nodiscard]] int fewest_workers(std::size_t a, std::size_t b, double time, int copies) const;
  // Returns stages that take at most `time`, with the fewest workers in all; empty if the cluster
  // has too few.
  [[nodiscard]] std::vector<Step> within(double time, int copies) const;
  [[nodiscard]] double bisect(int copies, std::vector<Step>* steps) const;
  void fill_table();
  [[nodiscard]] static std::size_t index(int workers) {
    return static_cast<std::size_t>(workers - 1);
  }

  const Cuts& cuts_;
  int workers_;
  bool straight_;
  double speed_;              // of the fastest device
  double largest_item_;       // the largest item that may run at once, in minibatches
  std::vector<double> time_;  // by cut: compute of all its layers on the fastest device
  // exchange_[m − 1] is a lower bound on averaging over m workers, in seconds per byte of weights
  // and minibatch. It is 0 for systems that flush. From m = 2 on, it does not grow with m while the
  // m workers fit the same level.
  std::vector<double> exchange_;
  std::vector<int> levels_end_;  // by level: the workers that the levels up to it join
  std::vector<double> table_;    // rest(a, w) at a·workers_ + w − 1; empty for large problems
  std::vector<Step> whole_;      // stages that come close to bound_; empty without bisection
  double bound_ = 0;
};

}  // namespace pipedream::plan
