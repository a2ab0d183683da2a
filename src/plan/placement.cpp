#include "plan/placement.h"

#include <algorithm>

#include "core/check.h"

namespace pipedream::plan {

std::vector<WorkerId> workers_in_order(int offset, int count, int copies, int block) {
  std::vector<WorkerId> workers;
  workers.reserve(static_cast<std::size_t>(count) * static_cast<std::size_t>(copies));
  for (int r = 0; r < count; ++r)
    for (int c = 0; c < copies; ++c) workers.push_back(WorkerId{c * block + offset + r});
  return workers;
}

Places::Places(const cost::Links& links)
    : size_(links.levels() > 1 ? links.inside(1) : links.workers()),
      used_(static_cast<std::size_t>(links.workers() / size_), 0) {}

std::vector<WorkerId> Places::take(int count, Placement placement) {
  std::vector<WorkerId> taken;
  const std::vector<std::size_t> order = machine_order(placement);
  if (placement == Placement::kScatterFirst) scatter(count, order, taken);
  for (const std::size_t machine : order)
    take_from(machine, count - static_cast<int>(taken.size()), taken);
  PD_CHECK(static_cast<int>(taken.size()) == count);
  std::sort(taken.begin(), taken.end());
  return taken;
}

// Returns the machines in the order in which their workers are taken.
std::vector<std::size_t> Places::machine_order(Placement placement) const {
  std::vector<std::size_t> order(used_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (placement == Placement::kInOrder) return order;
  const auto comes_first = [&](std::size_t machine) {
    return (used_[machine] > 0) != (placement == Placement::kFreshFirst);
  };
  std::stable_partition(order.begin(), order.end(), comes_first);
  return order;
}

void Places::take_from(std::size_t machine, int most, std::vector<WorkerId>& into) {
  const int first = static_cast<int>(machine) * size_;
  for (; most > 0 && used_[machine] < size_; --most)
    into.push_back(WorkerId{first + used_[machine]++});
}

// Takes one worker from each machine in turn: from the machines in use while they have free
// workers, or from all machines if none is in use. May take fewer than `count`.
void Places::scatter(int count, const std::vector<std::size_t>& machines,
                     std::vector<WorkerId>& into) {
  std::vector<std::size_t> pool;
  for (const std::size_t machine : machines)
    if (used_[machine] > 0) pool.push_back(machine);
  if (pool.empty()) pool = machines;
  for (bool any = true; any && static_cast<int>(into.size()) < count;) {
    any = false;
    for (const std::size_t machine : pool) {
      if (static_cast<int>(into.size()) == count) return;
      const std::size_t before = into.size();
      take_from(machine, 1, into);
      any = any || into.size() > before;
    }
  }
}

}  // namespace pipedream::plan
