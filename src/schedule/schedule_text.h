// A user's own schedule, as text (docs/formats.md#schedule): the ops of each worker in their order,
// spelt as to_text spells them (schedule/ops.h).
//
//   # comment to the end of the line
//   worker 0: F0 F1 B0 F2 B1 B2
//   worker 1: F0 B0 F1 B1
//   worker 1: F2 B2              # goes on where worker 1's last line ended
//
// An op may leave out what follows from the plan and from the ops before it. What is filled in:
//  - the stage: the worker's, where it has exactly one;
//  - the version of a forward: the newest that its stage has there; of a recomputation and a
//    backward: that of the item's last forward before it on this worker, 0 where there is none;
//  - recomputations: where a program has no C, one before each B and b of a stage that recomputes;
//  - updates: where a program has none of U, X, A and the file has neither P nor G. Those of
//    minibatch t stand behind the last backward, on any stage of the worker, of minibatch t and of
//    all lower ones: U t>t+1, and X, A and U of its round (schedule/rounds.h) where the stage has
//    replicas. A replica without a minibatch in the last round takes part in it at its program's
//    end, also if the file has no line for that worker. A minibatch without a backward holds up all
//    later updates;
//  - which minibatches an update applies: `from`, or those of round `from` where the stage has
//    replicas. There are as many minibatches as the file's highest one says.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "plan/plan.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

// The schedule, with its programs in the order of workers, those without any op left out. Its rules
// are turns, stashing, no bound on what is in flight; it flushes when no program has anything in
// flight at any of its updates (and pulls), and is asynchronous when the file has a P or G. Whether
// it is runnable, lower() and validate() say. Memory grows in proportion to the text.
// Requires a plan with a stage. Throws BadFile with `name`, line and column (in bytes, from 1).
[[nodiscard]] Schedule read_schedule_text(std::string_view text, const std::string& name,
                                          const plan::Plan& plan);

// The same for a file; throws IoError if it cannot be read.
[[nodiscard]] Schedule read_schedule_file(const std::filesystem::path& path,
                                          const plan::Plan& plan);

}  // namespace pipedream::schedule
