// A schedule: one program per worker, produced piece by piece, so that a run of a million
// minibatches needs no more memory than one of ten.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cost/counts.h"
#include "plan/plan.h"
#include "schedule/ops.h"

namespace pipedream::schedule {

using cost::Replicas;
using cost::WeightVersions;

// The compute ops and updates of one worker, in order; loads and transfers are lowering's part.
// `append` adds the ops of one piece: a pure function of the piece's number.
struct Generator {
  WorkerId worker;
  std::int64_t pieces = 0;
  std::function<void(std::int64_t piece, std::vector<Op>& ops)> append;
};

// What holds for all programs of a schedule.
struct Rules {
  cost::Traits traits;  // of the system whose schedule it is
  // False for evaluation: forwards alone, with the newest weights; nothing is kept for a backward.
  bool trains = true;
  // By stage: the most items between forward and backward on one worker. Empty: no limit.
  std::vector<int> in_flight;

  // Whether a backward uses the weights of its own forward. If not, it uses the newest.
  [[nodiscard]] bool stashes() const { return traits.versions != cost::WeightVersions::kUnstashed; }
  // The number of newest weight versions that a stage keeps whether an item uses them or not.
  [[nodiscard]] int kept() const {
    return cost::kept_versions(traits.versions, in_flight.empty() ? 1 : in_flight.front());
  }
};

struct Schedule {
  std::vector<Generator> generators;  // one per worker that does anything
  Rules rules;
};

// The programs of several workers, an op at a time.
class OpSource {
 public:
  virtual ~OpSource() = default;
  [[nodiscard]] virtual std::size_t programs() const = 0;
  [[nodiscard]] virtual WorkerId worker(std::size_t program) const = 0;
  // The op that stands `ahead` places after the next one; nullptr: the program ends before. Good
  // until the next call.
  [[nodiscard]] virtual const Op* peek(std::size_t program, std::size_t ahead = 0) = 0;
  virtual void pop(std::size_t program) = 0;
};

// How much is trained. The last minibatch may be short: cut into fewer microbatches of the same
// size.
struct Extent {
  std::int64_t minibatches = 1;
  int microbatches = 1;  // of a minibatch
  int last = 1;          // of the last minibatch

  [[nodiscard]] int microbatches_of(std::int64_t minibatch) const {
    return minibatch == minibatches - 1 ? last : microbatches;
  }
};

// Whole minibatches, cut as the plan says.
[[nodiscard]] inline Extent whole_minibatches(const plan::Plan& plan, std::int64_t count) {
  return {count, plan.microbatches, plan.microbatches};
}

// All ops of a generator.
[[nodiscard]] Program program_of(const Generator& generator);
[[nodiscard]] std::vector<Program> programs_of(const Schedule& schedule);
// The other way round: a schedule whose programs were written down.
[[nodiscard]] Schedule schedule_of(std::vector<Program> programs);

// The backward of an item, run again forward first where the stage kept only what it received.
inline void append_backward(bool recompute, StageId id, Item item, WeightVersion weights,
                            std::vector<Op>& ops) {
  if (recompute) ops.push_back(Recompute{id, item, weights});
  ops.push_back(Backward{id, item, weights});
}

}  // namespace pipedream::schedule
