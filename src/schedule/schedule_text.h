// Reads a schedule that a user has written as text (docs/formats.md#schedule): the ops of each
// worker in their order, spelt as to_text() spells them (schedule/ops.h).
//
//   # comment to the end of the line
//   worker 0: F0 F1 B0 F2 B1 B2
//   worker 1: F0 B0 F1 B1
//   worker 1: F2 B2              # goes on where worker 1's last line ended
//
// An op may leave out what follows from the plan and from the ops before it. The reader fills in:
//  - the stage, if the worker has exactly one stage;
//  - the version of a forward: the newest version that its stage has at this place;
//  - the version of a recomputation or backward: the version of the item's last forward before
//    it on the same stage and worker, or 0 if there is none;
//  - recomputations, in a program without any C: one before each B and b of a stage that is to
//    recompute;
//  - updates, in a program without any U, X or A, if the file has neither P nor G. If the plan
//    accumulates, only every K-th round of a stage has one. The updates of minibatch t stand after
//    the last backward, on any stage of the worker, of minibatch t and of all lower minibatches. A
//    stage with one worker gets U t>t+1. A stage with replicas gets X, A and U of the round
//    (schedule/rounds.h) that minibatch t belongs to. A replica without a minibatch in the last
//    round takes part in that round at the end of its program, even if the file has no line for its
//    worker. A minibatch without a backward holds up all later updates;
//  - the minibatches that an update applies: minibatch `from`, or those of round `from` if the
//    stage has replicas. If the plan accumulates, those of the K rounds from round K·`from` on. The
//    highest minibatch in the file is the last one of the schedule.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "plan/plan.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

// Returns the schedule. Its programs are in the order of workers; a worker without any op has no
// program. Its rules: replicas take turns, weights are stashed, the number of items in flight is
// not limited. It flushes if no program has an item in flight at any of its updates or pulls. It is
// asynchronous if the file has a P or G. Only lower() and validate() tell whether it can run.
// Memory grows in proportion to the text. Requires a plan with at least one stage. Throws BadFile
// with `name`, line and column (in bytes, from 1).
[[nodiscard]] Schedule read_schedule_text(std::string_view text, const std::string& name,
                                          const plan::Plan& plan);

// Reads the schedule from a file. Throws what read_schedule_text() throws, with `path` as the name,
// and IoError if the file cannot be read.
[[nodiscard]] Schedule read_schedule_file(const std::filesystem::path& path,
                                          const plan::Plan& plan);

}  // namespace pipedream::schedule
