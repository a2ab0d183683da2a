#include "systems/blocks.h"

#include <algorithm>

namespace pipedream::systems {

plan::Candidates plan_blocks(const plan::Predictor& predictor, const Wishes& wishes,
                             const BlockLimits& limits) {
  if (!wishes.split.empty()) return only(plan::plan_split(predictor, wishes.split));
  if (!wishes.stages)
    return plan::plan_balanced(predictor, wishes.balance, {limits.fewest, limits.most});
  const int layers = static_cast<int>(predictor.cuts().unit_count());
  const int most = std::min(limits.most, layers);
  if (*wishes.stages > most)
    return plan::Refusal{quoted(Option::kStages) + " " + std::to_string(*wishes.stages) +
                             ": at most " + std::to_string(most) + " are possible here (" +
                             std::to_string(layers) + " layers, " + std::to_string(limits.most) +
                             " workers" + (limits.of.empty() ? "" : " " + limits.of) + ")",
                         {}};
  return plan::plan_balanced(predictor, wishes.balance, {*wishes.stages, *wishes.stages});
}

}  // namespace pipedream::systems
