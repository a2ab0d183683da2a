// A bound below which no plan can come, whatever its placement: stages pay for their compute, what
// averaging takes of it included, and for averaging their weights over the best links that so many
// workers could have, and transfers are free. What is left is a bottleneck problem that is solved
// exactly.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/predict.h"

namespace pipedream::plan {

class Relaxation {
 public:
  // `straight`: no replicas.
  Relaxation(const Predictor& predictor, bool straight);

  // Seconds per minibatch that no plan of the network on the cluster undercuts.
  [[nodiscard]] double bound() const { return bound_; }
  // The same for the layers behind cut `a` on at most so many workers; weaker for large problems.
  [[nodiscard]] double rest(std::size_t a, int workers) const;
  // The same for one stage on so many workers.
  [[nodiscard]] double stage(std::size_t a, std::size_t b, int workers) const;

  struct Step {
    std::size_t end;
    int workers;
  };
  // Stages that reach the relaxed optimum when every count is a multiple of `copies`; empty when
  // that is impossible. Workers that are left over go to the slowest stages.
  [[nodiscard]] std::vector<Step> solution(int copies) const;

 private:
  [[nodiscard]] double compute(std::size_t a, std::size_t b) const;
  [[nodiscard]] int fewest_workers(std::size_t a, std::size_t b, double time, int copies) const;
  // The stages that take the fewest workers within `time`; empty: more than there are.
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
  double largest_item_;       // that a stage may run at once, in minibatches; at least 1
  std::vector<double> time_;  // compute of all layers of a cut on it
  // Seconds per byte and minibatch, at least, by workers − 1; never more with more workers of one
  // level, from 2 on.
  std::vector<double> exchange_;
  std::vector<int> levels_end_;  // the most workers that the levels up to the k-th join
  std::vector<double> table_;    // rest(a, w) at a·workers + w − 1
  std::vector<Step> whole_;      // what reaches bound_, where bisection found it
  double bound_ = 0;
};

}  // namespace pipedream::plan
