// A schedule: one program per worker (docs/systems.md shows those of all systems). Programs are
// produced piece by piece, so that a run of a million minibatches needs no more memory than a run
// of ten.
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

// Produces the program of one worker, without loads, sends and receives: lowering adds those.
struct Generator {
  WorkerId worker;
  std::int64_t pieces = 0;
  // Appends the ops of one piece (0 … `pieces` − 1) to `ops`. A pure function of `piece`.
  std::function<void(std::int64_t piece, std::vector<Op>& ops)> append;
};

// What holds for all programs of a schedule.
struct Rules {
  cost::Traits traits;  // traits of the system that the schedule belongs to
  // False for evaluation: forwards alone, with the newest weights; nothing is kept for a backward.
  bool trains = true;
  // The most items that a stage may have in flight on one worker, by stage. Empty: no limit.
  std::vector<int> in_flight;
  int accumulate = 1;  // rounds of an update (plan::Plan::accumulate)

  // Whether a backward uses the weights of its own forward. If not, it uses the newest.
  [[nodiscard]] bool stashes() const { return traits.versions != cost::WeightVersions::kUnstashed; }
  // The number of newest weight versions that a stage keeps whether an item uses them or not.
  [[nodiscard]] int kept() const {
    return cost::kept_versions(traits.versions, in_flight.empty() ? 1 : in_flight.front(),
                               accumulate);
  }
};

struct Schedule {
  std::vector<Generator> generators;  // one per worker that does anything
  Rules rules;
};

// The programs of several workers, read one op at a time. Programs are numbered from 0.
class OpSource {
 public:
  virtual ~OpSource() = default;
  [[nodiscard]] virtual std::size_t programs() const = 0;
  [[nodiscard]] virtual WorkerId worker(std::size_t program) const = 0;
  // Returns the op that stands `ahead` places after the program's next op, or nullptr if the
  // program ends before it. The pointer is valid until the next call of peek() or pop().
  [[nodiscard]] virtual const Op* peek(std::size_t program, std::size_t ahead = 0) = 0;
  // Removes the program's next op. Requires that peek() has returned that op.
  virtual void pop(std::size_t program) = 0;
};

// The length of a run. The last minibatch may be shorter than the others: it then has fewer
// microbatches of the same size.
struct Extent {
  std::int64_t minibatches = 1;
  int microbatches = 1;  // in every minibatch but the last
  int last = 1;          // microbatches in the last minibatch

  [[nodiscard]] int microbatches_of(std::int64_t minibatch) const {
    return minibatch == minibatches - 1 ? last : microbatches;
  }
};

// Returns the extent of `count` minibatches, each cut into `plan.microbatches` microbatches.
[[nodiscard]] inline Extent whole_minibatches(const plan::Plan& plan, std::int64_t count) {
  return {count, plan.microbatches, plan.microbatches};
}

// Return all ops that a generator, or each generator of a schedule, produces.
[[nodiscard]] Program program_of(const Generator& generator);
[[nodiscard]] std::vector<Program> programs_of(const Schedule& schedule);
// Returns a schedule that consists of `programs`. Its rules are the defaults.
[[nodiscard]] Schedule schedule_of(std::vector<Program> programs);

// Appends the backward of an item. With `recompute`, for a stage that kept only its inputs, appends
// a recomputation before it.
inline void append_backward(bool recompute, StageId id, Item item, WeightVersion weights,
                            std::vector<Op>& ops) {
  if (recompute) ops.push_back(Recompute{id, item, weights});
  ops.push_back(Backward{id, item, weights});
}

}  // namespace pipedream::schedule
