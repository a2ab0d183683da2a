#include "systems/measured.h"

#include <algorithm>
#include <map>

namespace pipedream::systems {

std::vector<Staleness> staleness_of(const std::vector<timeline::Event>& events,
                                    std::size_t stages) {
  struct Pending {
    std::int64_t minibatch;
    WeightVersion weights;
  };
  std::map<std::pair<WorkerId, StageId>, std::vector<Pending>> backwards;
  std::vector<Staleness> staleness(stages);
  std::vector<std::int64_t> counted(stages);
  for (const timeline::Event& event : events) {
    if (const auto* backward = std::get_if<schedule::Backward>(&event.op)) {
      if (backward->part == schedule::BackwardPart::kInput) continue;
      backwards[{event.worker, backward->stage}].push_back(
          {backward->item.minibatch, backward->weights});
    }
    const auto* update = std::get_if<schedule::Update>(&event.op);
    if (update == nullptr) continue;
    Staleness& of = staleness[update->stage.index()];
    std::erase_if(backwards[{event.worker, update->stage}], [&](const Pending& pending) {
      if (pending.minibatch > update->last) return false;
      const std::int64_t behind = update->from.value - pending.weights.value;
      of.most = std::max(of.most, behind);
      of.mean += static_cast<double>(behind);
      ++counted[update->stage.index()];
      return true;
    });
  }
  for (std::size_t s = 0; s < stages; ++s)
    if (counted[s] > 0) staleness[s].mean /= static_cast<double>(counted[s]);
  return staleness;
}

}  // namespace pipedream::systems
