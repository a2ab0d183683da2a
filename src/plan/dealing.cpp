#include "plan/dealing.h"

#include <set>

namespace pipedream::plan {

std::vector<std::vector<WorkerId>> deal_out(int stages, int workers) {
  std::vector<std::vector<WorkerId>> dealt;
  for (int s = 0; s < stages; ++s) dealt.push_back({WorkerId{s % workers}});
  return dealt;
}

std::optional<int> dealt_out_to(const std::vector<std::vector<WorkerId>>& workers) {
  std::set<WorkerId> seen;
  for (const auto& of_stage : workers) {
    if (of_stage.size() != 1) return std::nullopt;
    seen.insert(of_stage.front());
  }
  const std::size_t count = seen.size();
  if (count == 0 || workers.size() % count != 0) return std::nullopt;
  seen.clear();
  for (std::size_t s = 0; s < workers.size(); ++s) {
    if (s < count && !seen.insert(workers[s].front()).second) return std::nullopt;
    if (workers[s] != workers[s % count]) return std::nullopt;
  }
  return static_cast<int>(count);
}

std::optional<int> dealt_out_to(const Plan& plan) {
  std::vector<std::vector<WorkerId>> workers;
  for (const Stage& stage : plan.stages) workers.push_back(stage.workers);
  return dealt_out_to(workers);
}

}  // namespace pipedream::plan
