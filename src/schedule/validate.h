// Checks whether a schedule can run. What is wrong with it is returned as data, not thrown, so that
// tests and the command line can show the whole list.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "schedule/routes.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

struct Violation {
  WorkerId worker;
  // Index of the op in the worker's program. For what is missing at the end, the program's length.
  std::size_t op_index = 0;
  std::string what;
  friend bool operator==(const Violation&, const Violation&) = default;
};

// Checks complete (lowered) programs. Returns an empty list if they can run, that is if:
//  1. Every Recv has its Send and every Send its Recv. All replicas of a stage join each of its
//     averagings. No worker waits for ever, even if each Send blocks until it is received.
//  2. A worker has one program. It runs only ops of its own stages, and only items that the plan
//     gives to it.
//  3. Each Forward has loaded its data and received all values that it takes. Each Recompute and
//     each Backward has received all gradients that it takes. Everything that an op makes for other
//     workers is sent exactly once, and nothing else is sent.
//  4. Each Forward is followed by exactly one Backward of its stage and item: a whole one, or its
//     input part and then its weight part. If the stage recomputes, exactly one Recompute stands
//     between them. Stages that do not recompute have no Recompute.
//  5. Each weight version exists when it is used. Version 0 exists from the start, every other
//     version from its Update or Pull on. A version exists while it is among the newest that the
//     rules keep, or while an item whose forward used it has not run backward. A Backward uses the
//     version of its Forward. Without stashing, both use the newest version instead.
//  6. Each Update starts from the newest version and gives the next one. It applies the minibatches
//     that follow those of the last Update. All their backwards have run, and no gradients of other
//     minibatches are applied with them. Each Backward is applied by exactly one Update.
//     If the stage has replicas, their averaging began after these backwards and was awaited.
//     Averagings begin and are awaited in the order of updates. All replicas apply the same
//     minibatches.
//     Asynchronous schedules have a plan of one stage and no updates. Each Backward is pushed by
//     itself, in the order of minibatches, and each Push is followed by a Pull.
//  7. No stage has more items in flight on a worker than `rules.in_flight` allows.
// If `rules.trains` is false, a Forward needs no Backward, and no item counts as in flight.
// Memory grows with what is in flight, not with the length of the programs.
[[nodiscard]] std::vector<Violation> validate(OpSource& programs, const Rules& rules,
                                              const Routes& routes);
[[nodiscard]] std::vector<Violation> validate(std::span<const Program> programs, const Rules& rules,
                                              const plan::Plan& plan, const graph::Graph& graph);

}  // namespace pipedream::schedule
