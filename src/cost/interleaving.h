// The order in which a worker of an interleaved pipeline runs its stages, which are called chunks
// (docs/systems.md#interleaved). With n workers and v chunks on each, stage s is chunk s / n of
// worker s mod n. The schedule and the memory both follow from this order.
#pragma once

#include <vector>

namespace pipedream::cost {

struct Interleaving {
  int workers = 1;
  int chunks = 1;  // stages of each worker
  int items = 1;   // microbatches of a minibatch

  // What one forward or backward of a worker runs.
  struct Turn {
    int chunk;
    int microbatch;
  };
  // Returns what a worker's forward number `k` of a minibatch runs, counted from 0. For its
  // backward number `k` the microbatch is the same, and the chunk is `chunks` − 1 − chunk.
  // Microbatches pass the chunks in groups of n. The first group also has the remainder if n does
  // not divide their number. Fewer than n microbatches are one group.
  [[nodiscard]] Turn turn(int k) const;
  // Returns how many forwards `worker` (w) runs before its first backward: 2(n−w−1) + (v−1)·(size
  // of the first group) + 1, or n−w if v is 1; at most all forwards of a minibatch.
  [[nodiscard]] int warm_up(int worker) const;
  // Returns the most items that each stage has in flight, the first stage first.
  [[nodiscard]] std::vector<int> in_flight() const;

 private:
  [[nodiscard]] int first_group() const {
    return items < workers ? items : workers + items % workers;
  }
};

}  // namespace pipedream::cost
