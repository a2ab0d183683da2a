// Which workers a stage gets if stages are placed one after the other
// (docs/planner.md#the-planners).
#pragma once

#include <vector>

#include "cost/links.h"

namespace pipedream::plan {

// The ways to choose workers for a stage. All but the first are DAPPLE's. A machine is in use if an
// earlier stage has a worker on it.
//   kInOrder       the next free workers
//   kFreshFirst    workers of machines that are not in use, then of the others
//   kAppendFirst   workers of machines in use, then of the others
//   kScatterFirst  one worker in turn from each machine in use (from each machine if none is in
//                  use), then workers of the others
enum class Placement { kInOrder, kFreshFirst, kAppendFirst, kScatterFirst };

// Returns `count` workers, from number `offset` on, of each of `copies` blocks of `block` workers.
// The blocks take turns in the list: replica i is in block i mod `copies`. So a minibatch, which
// goes to replica b mod r of each stage, stays in one block.
[[nodiscard]] std::vector<WorkerId> workers_in_order(int offset, int count, int copies, int block);

// The free workers of a cluster while stages are placed. A machine is a component that the second
// level joins; a cluster of one level is one machine. For use by one thread.
class Places {
 public:
  explicit Places(const cost::Links& links);

  // Takes `count` free workers and returns them, ascending. Requires at least `count` free workers.
  [[nodiscard]] std::vector<WorkerId> take(int count, Placement placement);

 private:
  [[nodiscard]] std::vector<std::size_t> machine_order(Placement placement) const;
  void take_from(std::size_t machine, int most, std::vector<WorkerId>& into);
  void scatter(int count, const std::vector<std::size_t>& machines, std::vector<WorkerId>& into);

  int size_;               // workers of one machine
  std::vector<int> used_;  // by machine: how many workers are taken, always its first ones
};

}  // namespace pipedream::plan
