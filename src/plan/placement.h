// Which workers a stage gets when stages are placed one after the other.
#pragma once

#include <vector>

#include "cost/links.h"

namespace pipedream::plan {

// In order: the next free workers. The others are DAPPLE's: machines that nobody uses yet come
// first; machines in use are filled up first; or the stage is spread evenly over the machines in
// use (over all, when none is).
enum class Placement { kInOrder, kFreshFirst, kAppendFirst, kScatterFirst };

// `count` workers from `offset` on in each of `copies` blocks of `block` workers; the blocks take
// turns, so that a minibatch stays in one.
[[nodiscard]] std::vector<WorkerId> workers_in_order(int offset, int count, int copies, int block);

// A machine is a component of the second level; all workers, where there is only one level.
class Places {
 public:
  explicit Places(const cost::Links& links);

  // `count` free workers, ascending; there must be as many.
  [[nodiscard]] std::vector<WorkerId> take(int count, Placement placement);

 private:
  [[nodiscard]] std::vector<std::size_t> machine_order(Placement placement) const;
  void take_from(std::size_t machine, int most, std::vector<WorkerId>& into);
  void scatter(int count, const std::vector<std::size_t>& machines, std::vector<WorkerId>& into);

  int size_;               // workers of a machine
  std::vector<int> used_;  // of each machine: always its first
};

}  // namespace pipedream::plan
