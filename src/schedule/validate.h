// Is a schedule runnable? A bad one is data, not an exception: tests and the command line show the
// whole list of what is wrong.
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
  std::size_t op_index = 0;  // in the worker's program; its length for what is missing at the end
  std::string what;
  friend bool operator==(const Violation&, const Violation&) = default;
};

// Takes complete (lowered) programs. Empty means runnable:
//  1. every Recv has its Send and every Send its Recv, every Reduce is joined by all replicas of
//  its
//     stage, and no worker waits for ever even if each Send blocks until received;
//  2. a worker has one program, and runs only ops of its own stages and of items it has a part in;
//  3. each Forward has loaded and received all values it takes, each Recompute and each Backward
//  all
//     gradients; what an op makes for others is sent, once, and nothing else is;
//  4. each Forward is followed by exactly one Backward of its stage and item, whole or its input
//  and
//     its weight part in this order, after one Recompute where the stage recomputes, and nowhere
//     else;
//  5. each weight version exists when it is used: 0 from the start, others from their Update (or
//     Pull) on, while they are among the newest that the rules keep or a forward that began on them
//     has no backward; a Backward uses the version of its Forward or, without stashing, both the
//     newest;
//  6. each Update starts from the newest version and gives the next; it applies the minibatches
//  after
//     those of the last Update, all of whose backwards have run and no other's; where the stage has
//     replicas, their averaging began after these backwards and was awaited, averagings begin and
//     are awaited in the order of updates, and all replicas apply the same minibatches. Each
//     backward is applied by exactly one. In asynchronous schedules each backward is pushed, alone,
//     in the order of minibatches, and each push followed by a pull instead, on a plan of one
//     stage;
//  7. no stage has more items in flight on a worker than the rules say.
// Memory grows with what is in flight, not with the length of the programs.
[[nodiscard]] std::vector<Violation> validate(OpSource& programs, const Rules& rules,
                                              const Routes& routes);
[[nodiscard]] std::vector<Violation> validate(std::span<const Program> programs, const Rules& rules,
                                              const plan::Plan& plan, const graph::Graph& graph);

}  // namespace pipedream::schedule
