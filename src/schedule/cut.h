// Ends a program early, while a worker runs it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "schedule/ops.h"

namespace pipedream::schedule {

// Returns the minibatch that an op of a program is about. For an Update it is the last one that it
// applies, and the averaging for an update is about the same one. Returns nullopt for a Pull.
// `peek(i)` must return the op that stands i + 1 places after `op`, or nullptr if the program ends
// before it.
template <class Peek>
[[nodiscard]] std::optional<std::int64_t> minibatch_in_program(const Op& op, Peek peek) {
  const auto of_update = [&](StageId stage, WeightVersion to) -> std::optional<std::int64_t> {
    for (std::size_t ahead = 0; const Op* later = peek(ahead); ++ahead)
      if (const auto* update = std::get_if<Update>(later);
          update != nullptr && update->stage == stage && update->to == to)
        return update->last;
    return std::nullopt;
  };
  if (const auto* reduce = std::get_if<Reduce>(&op))
    return of_update(reduce->stage, reduce->update);
  if (const auto* await = std::get_if<Await>(&op)) return of_update(await->stage, await->update);
  return minibatch_of(op);
}

// Says which ops of one worker's program belong to the first minibatches of its schedule. What is
// left of all programs is again a valid schedule, and it trains to the same bits as the schedule
// that is generated for these minibatches alone, if the cut is between two whole updates of every
// stage (ScheduleProperty.CanBeCutAtEveryWholeUpdate).
class Cut {
 public:
  // Must be called for every op, in program order, with what minibatch_in_program() returns for it.
  // Returns whether the op belongs to what is trained: always, until end_before() was called.
  [[nodiscard]] bool keeps(const Op& op, const std::optional<std::int64_t>& minibatch) {
    // A Pull follows the Push that it belongs to.
    const bool kept = !end_ || (minibatch ? *minibatch < *end_ : keeps_push_);
    if (const auto* update = std::get_if<Update>(&op)) trained_[update->stage] = update->last + 1;
    if (const auto* push = std::get_if<Push>(&op)) {
      keeps_push_ = kept;
      if (!kept) trained_[push->stage] = push->item.minibatch + 1;
    }
    return kept;
  }
  // From now on only ops of minibatches before `end` are kept. Requires that no op of a later
  // minibatch was kept before.
  void end_before(std::int64_t end) { end_ = end; }
  [[nodiscard]] bool has_end() const { return end_.has_value(); }
  // Whether the rest of the program has no op to keep, as far as this is known. `stages`: how many
  // stages the worker has.
  [[nodiscard]] bool is_done(std::size_t stages) const {
    if (!end_ || trained_.size() < stages) return false;
    for (const auto& [stage, until] : trained_)
      if (until < *end_) return false;
    return true;
  }

 private:
  std::optional<std::int64_t> end_;
  bool keeps_push_ = true;
  // By stage: the end of its last update so far. Asynchronous stages are here once a push of theirs
  // was left out.
  std::map<StageId, std::int64_t> trained_;
};

}  // namespace pipedream::schedule
