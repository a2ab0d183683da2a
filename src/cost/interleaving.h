// The order in which a worker of an interleaved pipeline takes its stages: with n workers and v
// stages (chunks) on each, stage s is on worker s mod n. Schedule and memory both follow from it.
#pragma once

#include <vector>

namespace pipedream::cost {

struct Interleaving {
  int workers = 1;
  int chunks = 1;  // stages of each worker
  int items = 1;   // microbatches of a minibatch

  // Where the k-th forward of a minibatch belongs; for backwards chunks count from the last.
  // Microbatches go in groups of n through the chunks; what is left over joins the first group.
  struct Turn {
    int chunk;
    int microbatch;
  };
  [[nodiscard]] Turn turn(int k) const;
  // Forwards of a worker up to its first backward: 2(n−w−1) + (v−1)·(first group) + 1, or n−w where
  // v is 1.
  [[nodiscard]] int warm_up(int worker) const;
  // Items that each stage has between forward and backward, at most.
  [[nodiscard]] std::vector<int> in_flight() const;

 private:
  [[nodiscard]] int first_group() const {
    return items < workers ? items : workers + items % workers;
  }
};

}  // namespace pipedream::cost
